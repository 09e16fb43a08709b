"""Many settings in one pass: grids, rounds by memory, results, and a search that can be resumed."""
