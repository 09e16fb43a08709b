"""Where compiled code is: in the library that a wheel brings, or in a cache, or still to be compiled.

Code in the cache is named by a digest of all that it was made from: sources, the versions of Numba and LLVM,
types, and the level of the processor. So a change of any of them is another file, and a stale one is never
used. Where nothing can be written, code is compiled into memory.
"""

import ctypes
import hashlib
import importlib.metadata
import inspect
import os
import platform
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from steelyard.native import library, linking, processor
from steelyard.native.lazy import compiler

_PACKAGE = Path(__file__).parents[1]
_RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)
_one_at_a_time = threading.Lock()


class Entry(Protocol):
    """A function of machine code, and how it is made."""

    @property
    def name(self) -> str:
        """What it is, its types included."""

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def ships(self) -> bool:
        """Whether the library may have it."""

    @property
    def made_from(self) -> str | None:
        """A digest of its sources and all that they use; None if these may change unnoticed."""

    def llvm(self, symbol: str) -> str:
        """LLVM's code, which exports this symbol."""


def runnable(entry: Entry) -> Callable[[int], int]:
    """The code of a kernel, as a function of the address of a block."""
    return _RUN(address(entry))


def address(entry: Entry) -> int:
    """From the library, from the cache, or compiled."""
    found = library.address(entry.name) if entry.ships else None
    if found is not None:
        return found
    with _one_at_a_time:
        name, symbol = digest(entry, processor.level()), library.symbol_of(entry.name)
        found = next(filter(None, (linking.find(place, name, symbol) for place in _places())), None)
        return found or _compiled(entry, symbol, folder() if entry.made_from else None, name)


def _compiled(entry: Entry, symbol: str, place: Path | None, name: str) -> int:
    """The code, compiled, and kept if there is a place."""
    try:
        import llvmlite  # noqa: F401
        import numba  # noqa: F401
    except ModuleNotFoundError:
        raise ImportError(
            f"{entry.title} has to be compiled, which needs Numba: pip install 'steelyard[own-loss]'"
        ) from None
    if sys.stderr is not None:
        sys.stderr.write(f"steelyard: compiling {entry.title}, once\n")
    try:
        machine_code: bytes = compiler.machine_code(entry.llvm(symbol), symbol, processor.level())
    except compiler.ERRORS as error:
        raise TypeError(f"{entry.title} cannot be compiled: {_gist(error)} (see docs/own-loss.md)") from error
    if place is not None:
        try:
            return linking.load(linking.store(machine_code, place, name), symbol)
        except OSError:  # a full disk, say, or one from which nothing may be executed
            pass
    return linking.load_object(machine_code, symbol)


def _gist(error: BaseException) -> str:
    """What is wrong, of what Numba says in pages."""
    lines = [line.strip() for line in str(error).splitlines()]
    raised = [found[1] for line in lines if (found := re.match(r"\w*Error: (?!Failed in)(.+)", line))]
    said = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File "))]
    return ([*raised[-1:], *said] or [type(error).__name__])[0][:200]


def digest(entry: Entry, level: str) -> str:
    """The name of a file with this code: what it is and what compiled it, which may be open (see `find`)."""
    # Bytes drawn by chance, if nobody is to find it again.
    described = (entry.name, entry.made_from or os.urandom(16), level, _compiling_sources())
    here = sys.platform, platform.machine(), sys.version
    return f"{_digest(described, here)}-{_digest(_compilers()) if all(_compilers()) else '*'}"


def _digest(*described: Any) -> str:
    return hashlib.sha256(repr(described).encode()).hexdigest()[:32]


@cache
def folder() -> Path | None:
    """The cache, where new code is kept; None if it cannot be written."""
    for place in _places():
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(place, os.W_OK):
            return place
    return None


@cache
def _places() -> list[Path]:
    """Where code is looked for: beside the sources or where the user says, and among the user's own files."""
    given = os.environ.get("STEELYARD_CACHE_DIR")
    places = [Path(given) if given else Path(__file__).parent / "__pycache__"]
    with suppress(RuntimeError):  # there is no HOME
        places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard")
    return places


# The modules beside this one that end up in kernels, and those that decide how kernels are compiled and called.
_HERE = Path(__file__).parent
_IN_KERNELS = ("memory.py",)
_COMPILES = ("calls.py", "compiler.py", "declare.py", "method_compiler.py", "methods.py")

_IMPORTS = re.compile(r"^ *from (steelyard[\w.]*) import (?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
_NAMED = re.compile(r'"(steelyard\.[\w.]+)"')  # a module that is imported late (see `lazy`)
_BEGAN = time.time()


@cache
def sources_of(module: str) -> str | None:
    """A digest of the source of a module with kernels, and of all of this package that it imports.

    None if one of these files was edited since this process began, which may run what it was before.
    """
    files = sorted(_imported_by(module, set()))
    if any(file.stat().st_mtime > _BEGAN for file in files):
        return None
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _imported_by(module: str, found: set[Path]) -> set[Path]:
    file = _file_of(module)
    if file is not None and file not in found and (file.parent != _HERE or file.name in _IN_KERNELS):
        found.add(file)
        text = file.read_text(encoding="utf-8")
        for source, several, one in _IMPORTS.findall(text):
            _imported_by(source, found)
            for name in re.findall(r"\w+", several or one):
                _imported_by(f"{source}.{name}", found)
        for named in _NAMED.findall(text):
            _imported_by(named, found)
    return found


def _file_of(module: str) -> Path | None:
    """The file of a module of this package, and not of a package within it, nor of another name."""
    file = _PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return file if file.exists() else None


def sources_around(function: Any) -> str | None:
    """As `sources_of`, for a function of another package, which may call any kernel's part."""
    own = Path(inspect.getfile(function))
    if not own.exists() or own.stat().st_mtime > _BEGAN:
        return None
    parts = [
        sources_of(f"steelyard.{room}.{file.stem}") for room in ("learn", "text") for file in _modules(room)
    ]
    return None if None in parts else _digest(parts, own.read_bytes())


def _modules(room: str) -> list[Path]:
    return sorted((_PACKAGE / room).glob("*.py"))


@cache
def _compiling_sources() -> str:
    """A digest of our own modules that decide how."""
    return _digest([(_HERE / name).read_bytes() for name in _COMPILES])


@cache
def _compilers() -> tuple[str, ...]:
    """Their versions; empty if they are not installed."""

    def version(package: str) -> str:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return ""

    return tuple(version(package) for package in ("numba", "llvmlite"))
