"""What is not collected: examples in docstrings that need an extra which is not installed.

And no chance where kernels run as plain Python: which of their lines are covered must not depend on it.
"""

from importlib.util import find_spec

from hypothesis import settings
from numba import config

_NEEDS = {"src/steelyard/io/memory.py": "pyarrow", "src/steelyard/filtering/datatrove.py": "datatrove"}
collect_ignore = [path for path, package in _NEEDS.items() if not find_spec(package)]

settings.register_profile("plain", derandomize=True)
if config.DISABLE_JIT:
    settings.load_profile("plain")
