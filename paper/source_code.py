"""A digest of the code that computes a step: if it changes, the step is computed again."""

import ast
import functools
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import steelyard

_OURS = "paper."
# These change no row: the digest of the data is an input itself, and the others only define and draw.
_COMMON = ("paper.study", "paper.data", "paper.drawing")


def digest(compute: Callable[..., Any]) -> str:
    """The digest of a function's module, and of all modules of this package that it imports in turn."""
    while isinstance(compute, functools.partial):
        compute = compute.func
    waiting, seen = [compute.__module__], set[str]()
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += _imported(_source(module))
    found = hashlib.sha256()
    for module in sorted(seen):
        found.update(_source(module))
    return found.hexdigest()[:16]


@functools.cache
def library() -> str:
    """The digest of the installed library, as of the first call in this process."""
    return folder_digest(Path(str(steelyard.__file__)).parent)


def folder_digest(folder: Path) -> str:
    """The digest of all modules below a folder; adding, moving or removing one changes it too."""
    found = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*.py")):
        found.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


@functools.cache
def _imported(source: bytes) -> list[str]:
    """The modules of this package that the source imports."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # `from a import b`: b is a module itself, or something in a
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in sys.modules else str(node.module) for name in inner]
        else:
            continue
        found += [name for name in names if name.startswith(_OURS) and name not in _COMMON]
    return found


def _source(module: str) -> bytes:
    return Path(str(sys.modules[module].__file__)).read_bytes()
