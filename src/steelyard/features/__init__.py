"""Names → indices: hashing, interactions, tokens, and the names kept so that a model can be read."""
