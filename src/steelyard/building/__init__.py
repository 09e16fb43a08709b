"""Building the library of compiled kernels that wheels bring. Only what builds imports this room."""
