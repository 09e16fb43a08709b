"""Active learning: asking for few labels, and staying honest about what they can tell."""
