"""Hostile input for everything that reads: `python -m fuzzing`, or `make fuzz`."""
