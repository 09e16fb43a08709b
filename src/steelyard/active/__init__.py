"""Active learning: which labels to ask for, learning from the answers, and estimates from them."""
