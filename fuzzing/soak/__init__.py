"""Commands under hard circumstances: `python -m fuzzing.soak`, or `make soak`."""
