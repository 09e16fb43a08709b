"""Compiled loops. The only room where Numba lives: arrays and pointers, no classes of ours."""
