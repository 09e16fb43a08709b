"""What `steelyard demo` does, in steps: collect docstrings, learn them, weigh some, tell and draw it."""
