"""Compiled loops that learn and predict. They take arrays and function pointers."""
