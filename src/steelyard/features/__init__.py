"""From names to indices: hashing, interactions, tokens, and the names that a model shows."""
