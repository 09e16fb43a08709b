"""Compiled loops that learn and predict: arrays and pointers, no classes of ours."""
