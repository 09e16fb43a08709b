"""How fast, beside the peers: kernels, files, start-up, serving, memory."""
