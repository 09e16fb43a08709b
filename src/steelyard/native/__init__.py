"""Compiled code: how kernels are declared, compiled, kept, found and called."""
