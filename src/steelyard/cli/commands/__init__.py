"""One command a file; `steelyard.cli` imports each when it is called."""
