"""Several models that learned parts of the rows become one, in a fixed order: see `parts` and `files`."""
