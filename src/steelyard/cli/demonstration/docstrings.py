"""The docstrings of a source file, and what is left of one for learning from."""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

MOST_WORDS = 80  # the beginning says what it is about, and rows stay short enough to read
FEWEST_WORDS = 4
_NO_PROSE = (">>>", "...", ".. version")
_LARGEST = 1 << 20  # bytes; a file beyond it was written by a program

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def of_file(path: Path) -> list[str]:
    """In the order of the file; none from a file that cannot be read, is no UTF-8 or no Python of today."""
    try:
        source = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings of others
            return list(_within(ast.parse(source))) if len(source) <= _LARGEST else []
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _within(node: _Documented) -> Iterator[str]:
    """Of a module, class or function and of those directly in it; what hides in an `if` stays there."""
    docstring = ast.get_docstring(node)
    if docstring is not None:
        yield docstring
    for child in node.body:
        if isinstance(child, _Documented):
            yield from _within(child)


def cleaned(docstring: str, telltales: re.Pattern[str]) -> str | None:
    """One line without examples and without names of packages; None if hardly anything is left."""
    lines = (line for line in docstring.splitlines() if not line.lstrip().startswith(_NO_PROSE))
    beginning = " ".join(" ".join(lines).split()[: 2 * MOST_WORDS])  # the rest need not be cleaned
    printable = "".join(letter if letter.isprintable() else " " for letter in beginning)
    words = telltales.sub(" ", printable).split()[:MOST_WORDS]
    return " ".join(words) if sum(any(map(str.isalpha, word)) for word in words) >= FEWEST_WORDS else None
