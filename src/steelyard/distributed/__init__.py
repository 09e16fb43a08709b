"""Training on many machines: parts of the files, learned side by side, are merged after every round.

`training` has the one algorithm. It runs on an engine, which has three functions (see `engines`): processes
of this machine, Ray, or Dask.
"""
