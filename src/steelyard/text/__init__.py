"""Compiled loops that parse text: bytes in, arrays out."""
