"""The paper's four data sets: the originals if the user has them, else data sets that stand in for them.

    data = load("rcv1")        # by its place in the paper
    data.name, data.original   # "rcv1-ccat", False: no stand-in is called by the original's name

They are in the folder named by STEELYARD_DATA; docs/paper-data.md says where each comes from. Steps list the
digests of the files they depend on, so the report can list every file whose digest was asked for.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paper import dataset_paths, prepared, words
from paper.rows import MOST_VALUES, LabelledRows

PLACES = tuple(dataset_paths.FORMS)
"""The data sets of the paper, in its order."""

TEST_SHARE = 0.2

Indices = NDArray[np.int64]

_PREPARATION = 2  # increase this whenever the same files give different rows
_kept: list[Path] = []
_digests: dict[Path, str] = {}
_asked: set[str] = set()


@dataclass(frozen=True)
class Data:
    """Rows with labels −1 and 1."""

    name: str
    original: bool
    matrix: sparse.csr_matrix
    labels: NDArray[np.float64]
    first_test: int | None = None
    """The official test set begins at this row; None if there is none."""
    note: str = ""
    """The part of the files that was left out, if any."""

    def split(self, seed: int) -> tuple[Indices, Indices]:
        """Training rows, shuffled, and test rows: the official ones, else the last fifth."""
        rows = len(self.labels)
        if self.first_test is not None:
            order = np.random.default_rng(seed).permutation(self.first_test)
            return order, np.arange(self.first_test, rows)
        order = np.random.default_rng(seed).permutation(rows)
        first = rows - round(rows * TEST_SHARE)
        return order[:first], order[first:]


def folder() -> Path:
    named = os.environ.get("STEELYARD_DATA")
    if not named or not Path(named).is_dir():
        there = f"it is {named!r}, and no folder" if named else "it is not set"
        raise click.ClickException(
            f"set the environment variable STEELYARD_DATA to the folder with the data sets ({there}); "
            "docs/paper-data.md says what may lie there"
        )
    return Path(named)


def keep_in(path: Path) -> None:
    """Cache matrices in this folder from now on."""
    _kept[:] = [path]


def name(place: str) -> str:
    """The name of the data set that is used in this place; loads nothing."""
    return dataset_paths.find(place, folder()).form.name


def is_original(place: str) -> bool:
    return dataset_paths.find(place, folder()).form.original


def digest(place: str) -> str:
    """The digest of its files and of the way they are prepared."""
    found = hashlib.sha256(f"{_PREPARATION} {MOST_VALUES}".encode())
    if test_rows := dataset_paths.find(place, folder()).form.test_rows:
        found.update(f" last {test_rows}".encode())
    for each in sources(place).values():
        found.update(each.encode())
    _asked.add(place)
    return found.hexdigest()


def sources(place: str) -> dict[Path, str]:
    """Its files with their digests. A corpus of mail has two: its index, and all messages together."""
    found = dataset_paths.find(place, folder())
    digests = {path: file_digest(path) for path in found.paths}
    if found.paths[0].name == "index":
        digests[found.paths[0].parent.parent / "data"] = _mail_digest(found.paths[0])
    return digests


def file_digest(path: Path) -> str:
    """SHA-256, in hexadecimal."""
    if path not in _digests:
        if not path.is_file():
            raise click.ClickException(
                f"there is no {path}; docs/paper-data.md says what lies in the folder named by STEELYARD_DATA"
            )
        with path.open("rb") as stream:
            _digests[path] = hashlib.file_digest(stream, "sha256").hexdigest()
    return _digests[path]


def places_asked_for() -> list[str]:
    """The places whose digest was asked for in this process, in the order of the paper."""
    return [place for place in PLACES if place in _asked]


def digests_asked_for() -> dict[Path, str]:
    """The digests computed in this process, of files in the data folder."""
    named = os.environ.get("STEELYARD_DATA")
    return {path: each for path, each in sorted(_digests.items()) if named and path.is_relative_to(named)}


def load(place: str) -> Data:
    return _load(dataset_paths.find(place, folder()), digest(place))


@cache
def _load(found: dataset_paths.FoundDataset, digest: str) -> Data:
    form = found.form
    rows: LabelledRows = (
        prepared.load_rows(_kept[0], form.name, digest, found.read) if _kept else found.read()
    )
    return Data(form.name, form.original, rows.matrix, rows.labels, rows.first_test, rows.note)


@cache
def _mail_digest(index: Path) -> str:
    found = hashlib.sha256()
    for _, path in words.list_mail(index):
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
