"""What is not collected: examples in docstrings that need an extra which is not installed.

And no chance where kernels run as plain Python: which of their lines are covered must not depend on it.
"""

from importlib.util import find_spec

from hypothesis import settings
from numba import config

collect_ignore = [] if find_spec("pyarrow") else ["src/steelyard/io/memory.py"]

settings.register_profile("plain", derandomize=True)
if config.DISABLE_JIT:
    settings.load_profile("plain")
