"""What `steelyard demo` does: learn who survived the Titanic from a weighted sample."""
