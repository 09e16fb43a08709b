"""Online learning in which an importance weight of h means exactly h copies of the example."""

import importlib
from types import ModuleType

__version__ = "0.1.0"
__all__ = ["__version__", "losses", "schedules", "updates"]

_rooms = ("losses", "schedules", "updates")


def __getattr__(name: str) -> ModuleType:
    if name in _rooms:
        return importlib.import_module(f"steelyard.{name}")
    raise AttributeError(f"module 'steelyard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
