"""Active learning: which labels to ask for, what was asked and answered, and what that teaches."""
