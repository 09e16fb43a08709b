"""Compiled code: how kernels are declared, compiled, stored, found and called."""
