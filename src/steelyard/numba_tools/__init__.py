"""How this package uses Numba: one decorator, one cache of compiled code, borrowed arrays."""
