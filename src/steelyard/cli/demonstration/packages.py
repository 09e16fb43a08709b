"""The packages of this Python and their source files, found by looking at folders: nothing is imported."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

STANDARD_LIBRARY = "python"
_SITES = ("site-packages", "dist-packages")
# Tests speak of what they test, and copies of other packages are not a package's own words.
_LEFT_OUT = {
    "__pycache__", "_vendor", "_vendored", "externals", "idlelib", "lib2to3", "test", "testing", "tests",
    "turtledemo", "vendored", *_SITES,
}  # fmt: skip


@dataclass(frozen=True)
class Package:
    """A package by the name with which it is imported, and its files in the order of their names."""

    name: str
    files: tuple[Path, ...]


def installed() -> list[Package]:
    """The standard library and every folder of modules that is installed beside it."""
    sites = [Path(entry) for entry in sys.path if Path(entry).name in _SITES]
    return found(Path(sysconfig.get_path("stdlib")), sites)


def found(standard_library: Path, sites: list[Path]) -> list[Package]:
    """Without those that have no file, by name; of two with one name the first, as Python has it."""
    folders = {STANDARD_LIBRARY: standard_library}
    for site in sites:
        for folder in sorted(site.iterdir()) if site.is_dir() else ():
            if folder.name.isidentifier() and folder.name not in _LEFT_OUT and folder.is_dir():
                folders.setdefault(folder.name, folder)
    packages = (Package(name, tuple(_sources(folder))) for name, folder in sorted(folders.items()))
    return [package for package in packages if package.files]


def _sources(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        yield from (
            Path(place, file)
            for file in sorted(files)
            if file.endswith(".py") and not file.startswith(("test_", "conftest"))
        )


def telltales(
    packages: list[Package], distributions: Mapping[str, list[str]] | None = None
) -> re.Pattern[str]:
    """What gives the answer away: the packages' names, as they are imported and as they are installed."""
    known = metadata.packages_distributions() if distributions is None else distributions
    names = {package.name for package in packages} - {STANDARD_LIBRARY}
    names |= {name for package in names for name in known.get(package, ())}
    spellings = sorted("[-_ .]?".join(map(re.escape, re.split(r"[-_.]+", name.strip("_")))) for name in names)
    return re.compile(rf"(?i)(?<![^\W_])(?:{'|'.join(spellings) or '(?!)'})(?![^\W_])")
