"""What the command `active simulate` is made of: its rows, its trials, its grid, its table, its pictures."""
