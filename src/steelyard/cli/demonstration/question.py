"""The question of the demo: does a docstring come from this package, or from another one?

Half of the docstrings are the package's, half come from all the others together. What is held out
are whole files, so that no answer rests on the words of a neighbouring function.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from re import Pattern

from steelyard.cli.demonstration import docstrings
from steelyard.cli.demonstration.packages import STANDARD_LIBRARY, Package, telltales
from steelyard.io.errors import InputError

FAVOURITE = "sklearn"
MOST = 2500  # docstrings of each side: enough to learn from, and collected in seconds
FEWEST = 50
MOST_OF_A_FILE = 25
HELD_OUT = 5  # every fifth file

Row = tuple[str, str]
"""The package and the docstring."""


@dataclass(frozen=True)
class Question:
    package: str
    learned: list[Row]
    held_out: list[Row]

    @property
    def packages(self) -> int:
        """How many packages the docstrings come from."""
        return len({package for package, _ in self.learned + self.held_out})


def asked(packages: Sequence[Package], wanted: str | None, seed: int, most: int = MOST) -> Question:
    """Collect both sides; the same for the same packages and seed."""
    chosen = _chosen(packages, wanted)
    rest = [package for package in packages if package is not chosen]
    names = telltales(list(packages))
    ours = _collected([chosen], most, names, seed, known=set())
    theirs = _collected(rest, len(ours), names, seed, known={text for _, (_, text) in ours})
    ours = ours[: len(theirs)]
    if len(ours) < FEWEST:
        raise InputError(
            f"too few docstrings to learn from: {len(ours)} of {chosen.name} and as many others; "
            f"there need to be {FEWEST}"
        )
    learned = [row for side in (ours, theirs) for number, row in side if number % HELD_OUT]
    held_out = [row for side in (ours, theirs) for number, row in side if not number % HELD_OUT]
    for rows in (learned, held_out):
        random.Random(seed).shuffle(rows)
    return Question(chosen.name, learned, held_out)


def _chosen(packages: Sequence[Package], wanted: str | None) -> Package:
    """The package asked for, else the favourite, else the largest."""
    by_name = {package.name: package for package in packages}
    if wanted is not None and wanted not in by_name:
        raise InputError(f"there is no package {wanted!r}; there are {', '.join(sorted(by_name))}")
    if wanted is not None or FAVOURITE in by_name:
        return by_name[wanted or FAVOURITE]
    others = [package for package in packages if package.name != STANDARD_LIBRARY] or packages
    return max(others, key=lambda package: len(package.files))


def _collected(
    packages: Sequence[Package], most: int, names: Pattern[str], seed: int, known: set[str]
) -> list[tuple[int, Row]]:
    """Up to so many docstrings, no two the same, each with the number of its file in a shuffled order."""
    files: list[tuple[str, Path]] = [(package.name, file) for package in packages for file in package.files]
    random.Random(seed).shuffle(files)
    found: list[tuple[int, Row]] = []
    for number, (package, file) in enumerate(files):
        new: dict[str, None] = {}  # a set that keeps the order
        for docstring in docstrings.of_file(file):
            text = docstrings.cleaned(docstring, names)
            if text is not None and text not in known:
                new[text] = None
        kept = list(new)[:MOST_OF_A_FILE]
        known.update(kept)
        found += [(number, (package, text)) for text in kept]
        if len(found) >= most:
            break
    return found[:most]
