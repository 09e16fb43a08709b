"""What the command `sweep` is made of: its lists of values, its run, its table, its pictures."""
