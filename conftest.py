"""What is not collected: examples in docstrings that need an extra which is not installed.

And no chance where kernels run as plain Python: which of their lines are covered must not depend on it. And
Numba is not traced while it compiles: coverage of this project would have nothing of it, and the tests take a
third less time.
"""

import sys
import threading
from importlib.util import find_spec
from typing import Any

from hypothesis import settings
from numba import config
from numba.core import event

_NEEDS = {
    "src/steelyard/io/memory.py": "pyarrow",
    "src/steelyard/filtering/datatrove.py": "datatrove",
    "src/steelyard/distributed/ray_engine.py": "ray",
    "src/steelyard/distributed/dask_engine.py": "distributed",
    "tests/distributed/test_clusters.py": "psutil",
}
collect_ignore = [path for path, package in _NEEDS.items() if not find_spec(package)]

settings.register_profile("plain", derandomize=True)
if config.DISABLE_JIT:
    settings.load_profile("plain")


class _Untraced(event.Listener):  # type: ignore[misc]
    """No trace function between the start and the end of a compilation, whose frames are alike.

    A tracer counts calls and returns. It does not see `on_start` return, nor `on_end` called: so it is even.
    """

    def __init__(self) -> None:
        self._here = threading.local()

    def on_start(self, event: Any) -> None:
        self._here.depth = getattr(self._here, "depth", 0) + 1
        if self._here.depth == 1:
            self._here.tracer = sys.gettrace()
            sys.settrace(None)

    def on_end(self, event: Any) -> None:
        self._here.depth -= 1
        if self._here.depth == 0:
            sys.settrace(self._here.tracer)
            _awake()


def _awake() -> None:
    """A call, by which coverage's tracer notices that it is installed again."""


if sys.gettrace() is not None or "--cov" in sys.argv:
    event.register("numba:compiler_lock", _Untraced())
