"""What is not collected: examples in docstrings that need an extra which is not installed.

And no chance: what passes, and which lines are covered, must not depend on it. And what coverage would have
nothing of is not traced, as tracing doubles the time of everything that is Python: Numba while it compiles;
tests of kernels, which are traced where kernels run as plain Python; and tests of the paper, whose code is
not measured.
"""

import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
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

# A shell starts what runs in the background with Ctrl-C ignored; tests send it, to themselves and to others.
signal.signal(signal.SIGINT, signal.default_int_handler)

_NOT_TRACED = () if config.DISABLE_JIT else ("tests/learn", "tests/text", "tests/paper")
_TRACED = "tests/learn/test_batched_loss.py"  # how a loss is compiled is covered where it is


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = Path(__file__).parent
    for item in items:
        untraced = any(item.path.is_relative_to(root / folder) for folder in _NOT_TRACED)
        if untraced and item.path != root / _TRACED:
            item.add_marker(pytest.mark.no_cover)


# A test must not fail by chance, nor because the machine is busy: each run draws the same examples, and takes
# its time. `pytest --hypothesis-profile search` draws others each time.
_TIMELESS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("steady", derandomize=True, **_TIMELESS)
settings.register_profile("search", max_examples=2000, **_TIMELESS)
settings.load_profile("steady")


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
