"""What a model says of rows: predictions, labels and probabilities, from files, lines and tables, and written again."""
