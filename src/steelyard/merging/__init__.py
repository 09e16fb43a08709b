"""Several models that learned parts of the rows become one, in a fixed order.

`parts` has the arithmetic, in units that all share (`common_units`); `model_files` merges what model files hold.
"""
