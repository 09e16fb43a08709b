"""What is not collected: examples in docstrings that need an extra which is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pyarrow") else ["src/steelyard/io/memory.py"]
