"""Speed, start-up and memory beside the peers: `make bench`, or `python -m benchmarks.run --help`."""
