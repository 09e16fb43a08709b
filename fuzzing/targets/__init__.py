"""What is fuzzed. A file has one or several targets in its table `TARGETS`."""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Protocol


class Target(Protocol):
    """Made with an empty folder of its own."""

    def draw(self, chance: Random) -> bytes:
        """The next batch of inputs."""

    def check(self, data: bytes) -> int:
        """Try a batch; any exception is a finding. Returns how many inputs it had."""


def find() -> dict[str, Callable[[Path], Target]]:
    found: dict[str, Callable[[Path], Target]] = {}
    for module in pkgutil.iter_modules(__path__):
        found |= importlib.import_module(f"{__name__}.{module.name}").TARGETS
    return found
