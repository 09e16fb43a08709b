"""Which code a step's rows come from: if it changes, they are computed anew."""

import ast
import functools
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import steelyard

_OURS = "paper."
# Known by what they give: the digest of the data is an input itself, and how things look changes no row.
_COMMON = ("paper.study", "paper.data", "paper.drawing")


def digest(compute: Callable[..., Any]) -> str:
    """Of the module of a function, and of the modules of this package that it imports, and so on."""
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
    """Of the library, wherever it is installed, as it was when this process first asked."""
    return folder_digest(Path(str(steelyard.__file__)).parent)


def folder_digest(folder: Path) -> str:
    """Of all modules below a folder, by name: one that is added, moved or gone counts as a change, too."""
    found = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*.py")):
        found.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


@functools.cache
def _imported(source: bytes) -> list[str]:
    """The modules of this package that it names."""
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
