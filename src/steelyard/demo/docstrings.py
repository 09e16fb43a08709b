"""The data of the demo: docstrings of one installed package, and as many of all the others together.

Packages are found by looking at folders; nothing is imported. Whole files are held out, so that no answer
rests on the words of a neighbouring function.
"""

import ast
import os
import random
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from steelyard.io.errors import InputError

STANDARD_LIBRARY = "python"
MAX_PER_SIDE = 2500  # enough to learn from, and collected in seconds
MIN_PER_SIDE = 50
MAX_PER_FILE = 25
HELD_OUT = 5  # every fifth file
MAX_WORDS = 80  # the beginning says what it is about, and rows stay short enough to read
MIN_WORDS = 4
_MAX_BYTES = 1 << 20  # a larger source file was written by a program
_NO_PROSE = (">>>", "...", ".. version")
_SITES = ("site-packages", "dist-packages")
# Tests speak of what they test, and copies of other packages are not a package's own words.
_LEFT_OUT = {
    "__pycache__", "_vendor", "_vendored", "externals", "idlelib", "lib2to3", "test", "testing", "tests",
    "turtledemo", "vendored", *_SITES,
}  # fmt: skip

DocstringRow = tuple[str, str]
"""The package and the docstring."""

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourcePackage:
    """A package by the name with which it is imported, and its source files in order of their names."""

    name: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Docstrings:
    """The rows to learn and the rows held out, half of each from `package`."""

    package: str
    train: list[DocstringRow]
    held_out: list[DocstringRow]

    @property
    def packages(self) -> int:
        return len({package for package, _ in self.train + self.held_out})


def find_installed() -> list[SourcePackage]:
    """The standard library and every package installed beside it."""
    sites = [Path(entry) for entry in sys.path if Path(entry).name in _SITES]
    return find_packages(Path(sysconfig.get_path("stdlib")), sites)


def find_packages(standard_library: Path, sites: list[Path]) -> list[SourcePackage]:
    """All packages with source files, by name; of two with one name the first, as in an import."""
    folders = {STANDARD_LIBRARY: standard_library}
    for site in sites:
        for folder in sorted(site.iterdir()) if site.is_dir() else ():
            if folder.name.isidentifier() and folder.name not in _LEFT_OUT and folder.is_dir():
                folders.setdefault(folder.name, folder)
    packages = (SourcePackage(name, tuple(_sources(folder))) for name, folder in sorted(folders.items()))
    return [package for package in packages if package.files]


def _sources(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        yield from (
            Path(place, file)
            for file in sorted(files)
            if file.endswith(".py") and not file.startswith(("test_", "conftest"))
        )


def match_names(
    packages: Sequence[SourcePackage], distributions: Mapping[str, list[str]] | None = None
) -> re.Pattern[str]:
    """A pattern for what would give the answer away: names of packages, as imported and as installed."""
    known = metadata.packages_distributions() if distributions is None else distributions
    names = {package.name for package in packages} - {STANDARD_LIBRARY}
    names |= {name for package in names for name in known.get(package, ())}
    spellings = sorted("[-_ .]?".join(map(re.escape, re.split(r"[-_.]+", name.strip("_")))) for name in names)
    return re.compile(rf"(?i)(?<![^\W_])(?:{'|'.join(spellings) or '(?!)'})(?![^\W_])")


def read_docstrings(path: Path) -> list[str]:
    """The docstrings of a file in order; none if it cannot be read or is not Python of today."""
    try:
        source = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings of others
            return list(_walk(ast.parse(source))) if len(source) <= _MAX_BYTES else []
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _walk(node: _Documented) -> Iterator[str]:
    """The docstrings of a module, class or function and of those directly in it."""
    docstring = ast.get_docstring(node)
    if docstring is not None:
        yield docstring
    for child in node.body:
        if isinstance(child, _Documented):
            yield from _walk(child)


def clean(docstring: str, names: re.Pattern[str]) -> str | None:
    """One line without examples and without names of packages; None if hardly anything is left."""
    lines = (line for line in docstring.splitlines() if not line.lstrip().startswith(_NO_PROSE))
    beginning = " ".join(" ".join(lines).split()[: 2 * MAX_WORDS])  # the rest need not be cleaned
    printable = "".join(letter if letter.isprintable() else " " for letter in beginning)
    words = names.sub(" ", printable).split()[:MAX_WORDS]
    return " ".join(words) if sum(any(map(str.isalpha, word)) for word in words) >= MIN_WORDS else None


def collect(
    packages: Sequence[SourcePackage], wanted: str, seed: int, most: int = MAX_PER_SIDE
) -> Docstrings:
    """Collect both sides; the same for the same packages and seed."""
    by_name = {package.name: package for package in packages}
    if wanted not in by_name:
        raise InputError(f"there is no package {wanted!r}; there are {', '.join(sorted(by_name))}")
    chosen = by_name[wanted]
    rest = [package for package in packages if package is not chosen]
    names = match_names(packages)
    ours = _collect_side([chosen], most, names, seed, known=set())
    theirs = _collect_side(rest, len(ours), names, seed, known={text for _, (_, text) in ours})
    ours = ours[: len(theirs)]
    if len(ours) < MIN_PER_SIDE:
        raise InputError(
            f"too few docstrings to learn from: {len(ours)} of {chosen.name} and as many others; "
            f"at least {MIN_PER_SIDE} are needed"
        )
    train = [row for side in (ours, theirs) for number, row in side if number % HELD_OUT]
    held_out = [row for side in (ours, theirs) for number, row in side if not number % HELD_OUT]
    for rows in (train, held_out):
        random.Random(seed).shuffle(rows)
    return Docstrings(chosen.name, train, held_out)


def _collect_side(
    packages: Sequence[SourcePackage], most: int, names: re.Pattern[str], seed: int, known: set[str]
) -> list[tuple[int, DocstringRow]]:
    """Up to `most` different docstrings, each with the number of its file in a shuffled order."""
    files = [(package.name, file) for package in packages for file in package.files]
    random.Random(seed).shuffle(files)
    collected: list[tuple[int, DocstringRow]] = []
    for number, (package, file) in enumerate(files):
        cleaned = (clean(docstring, names) for docstring in read_docstrings(file))
        new = dict.fromkeys(text for text in cleaned if text is not None and text not in known)
        texts = list(new)[:MAX_PER_FILE]
        known.update(texts)
        collected += [(number, (package, text)) for text in texts]
        if len(collected) >= most:
            break
    return collected[:most]
