"""What `steelyard demo` does: collect docstrings, learn them, give some a weight, write a report."""
