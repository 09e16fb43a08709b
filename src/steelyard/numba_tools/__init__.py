"""How this package uses Numba: decorators, a cache of compiled functions, and Numba's private parts."""
