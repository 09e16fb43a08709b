"""What clusters and merging cost and gain."""
