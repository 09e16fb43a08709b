"""Find compiled code: in the library that a wheel brings, else in a cache, else compile it.

Code in the cache is named by a digest of everything that it was made from: sources, the versions of Numba and
LLVM, types, and the level of the processor. So a change of any of them asks for another file, and a stale one
is never used. Where nothing can be written, code is compiled into memory.
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
    """A function that is wanted as machine code."""

    @property
    def name(self) -> str:
        """Its name, with its types, which identifies it."""

    @property
    def title(self) -> str:
        """Its name in messages."""

    @property
    def ships(self) -> bool:
        """Whether it may be in the library."""

    @property
    def made_from(self) -> str | None:
        """A digest of its sources and of all that they use; None if these may change unnoticed."""

    def llvm(self, symbol: str) -> str:
        """Return its LLVM code, which exports this symbol."""


def runnable(entry: Entry) -> Callable[[int], int]:
    """Return the code of a kernel, as a function of the address of a block."""
    return _RUN(address(entry))


def address(entry: Entry) -> int:
    """Return the address of the code: in the library, in the cache, or compiled now."""
    in_library = library.address(entry.name) if entry.ships else None
    if in_library is not None:
        return in_library
    with _one_at_a_time:
        name, symbol = digest(entry, processor.level()), library.symbol_of(entry.name)
        in_cache = next(filter(None, (linking.find(place, name, symbol) for place in _places())), None)
        return in_cache or _compile(entry, symbol, folder() if entry.made_from else None, name)


def _compile(entry: Entry, symbol: str, place: Path | None, name: str) -> int:
    """Compile the code, and store it if there is a place; returns its address."""
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
        except OSError:  # such as a full disk, or one from which nothing may be executed
            pass
    return linking.load_object(machine_code, symbol)


def _gist(error: BaseException) -> str:
    """Return the one line of Numba's pages that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    raised = [found[1] for line in lines if (found := re.match(r"\w*Error: (?!Failed in)(.+)", line))]
    messages = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File "))]
    return ([*raised[-1:], *messages] or [type(error).__name__])[0][:200]


def digest(entry: Entry, level: str) -> str:
    """Return the name of a file with this code: what it is, and what compiled it.

    Without Numba any compiler will do: then the second part is a pattern (see `linking.find`).
    """
    # Random bytes, if nobody is to find it again.
    described = (entry.name, entry.made_from or os.urandom(16), level, _compiling_sources())
    here = sys.platform, platform.machine(), sys.version
    return f"{_digest(described, here)}-{_digest(_compilers()) if all(_compilers()) else '*'}"


def _digest(*described: Any) -> str:
    return hashlib.sha256(repr(described).encode()).hexdigest()[:32]


@cache
def folder() -> Path | None:
    """Return the folder for new code; None if none can be written."""
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
    """Return the folders to look in: beside the sources or where the user says, and among the user's own files."""
    given = os.environ.get("STEELYARD_CACHE_DIR")
    places = [Path(given) if given else Path(__file__).parent / "__pycache__"]
    with suppress(RuntimeError):  # there is no HOME
        places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard")
    return places


# Modules beside this one whose code becomes part of kernels, and those that decide how kernels are compiled.
_HERE = Path(__file__).parent
_IN_KERNELS = ("memory.py",)
_COMPILES = (
    "argument_blocks.py", "calls.py", "compiler.py", "declare.py", "method_compiler.py", "methods.py",
)  # fmt: skip

_IMPORTS = re.compile(r"^ *from (steelyard[\w.]*) import (?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
_NAMED = re.compile(r'"(steelyard\.[\w.]+)"')  # a module that is imported late (see `lazy`)
_BEGAN = time.time()


@cache
def sources_of(module: str) -> str | None:
    """Return a digest of the source of a module with kernels, and of all modules of this package that it imports.

    None if one of these files was edited since this process began, which may run the earlier version.
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
    """Return the file of a module of this package; None for folders, and for names that are not modules."""
    file = _PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return file if file.exists() else None


def sources_around(function: Any) -> str | None:
    """Return a digest of sources for a function of another package, which may call any kernel's part."""
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
    """Return a digest of the modules that decide how kernels are compiled."""
    return _digest([(_HERE / name).read_bytes() for name in _COMPILES])


@cache
def _compilers() -> tuple[str, ...]:
    """Return the versions of Numba and llvmlite; empty texts if they are not installed."""

    def version(package: str) -> str:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return ""

    return tuple(version(package) for package in ("numba", "llvmlite"))
