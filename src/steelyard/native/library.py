"""The library that a wheel brings: a shared object for each level of processors, with all of `building.table`.

A development checkout has none. Code is found by its name: its symbol is a digest of the name.
"""

import ctypes
import hashlib
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

from steelyard.native import linking, processor

FOLDER = Path(__file__).parent / "libraries"
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def symbol_of(name: str) -> str:
    return f"steelyard_{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def address(name: str) -> int | None:
    """Return the address of the code with this name; None if the library lacks it, or there is no library."""
    library = _loaded()
    symbol = symbol_of(name)
    return linking.address_of(library, symbol) if library is not None and hasattr(library, symbol) else None


@cache
def _loaded() -> Any:
    """Load the library of the highest level that this processor has."""
    path = file()
    return ctypes.CDLL(str(path)) if path is not None else None


@cache
def file() -> Path | None:
    for level in processor.levels():
        candidate = FOLDER / file_name(level)
        if candidate.exists():
            return candidate
    return None


def file_name(level: str) -> str:
    return f"{sys.platform}-{platform.machine().lower()}-{level}{SUFFIX}"
