"""The files of each data set of the paper: the original, or a data set that stands in for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from paper import words
from paper.rows import (
    COMPRESSED,
    LabelledRows,
    join_train_and_test,
    read_svmlight,
    read_vowpal_wabbit,
    remove_gaps,
)

Read = Callable[[Sequence[Path]], LabelledRows]


@dataclass(frozen=True)
class Form:
    """One form of a data set: its files, all of which must exist, and their reader."""

    name: str
    original: bool
    files: tuple[str, ...]
    read: Read
    test_rows: int = 0
    """How many of the last rows are for testing, where they have no file."""


@dataclass(frozen=True)
class FoundDataset:
    """A data set whose files exist."""

    form: Form
    paths: tuple[Path, ...]

    def read(self) -> LabelledRows:
        rows = remove_gaps(self.form.read(self.paths))
        first = len(rows.labels) - self.form.test_rows
        # of a file that was read in part, the last rows are missing
        return (
            replace(rows, first_test=first) if self.form.test_rows and not rows.note and first > 0 else rows
        )


def _split(read: Callable[[Path], LabelledRows]) -> Read:
    return lambda paths: join_train_and_test(read(paths[0]), read(paths[1]))


def _one(read: Callable[[Path], LabelledRows]) -> Read:
    return lambda paths: read(paths[0])


_WEBSPAM_TEST = 50_000  # as in the paper, since the labels of the real test set are not public

# In order of preference: the first form whose files exist is used.
FORMS: dict[str, tuple[Form, ...]] = {
    "rcv1": (
        Form("rcv1", True, ("rcv1.train.vw", "rcv1.test.vw"), _split(read_vowpal_wabbit)),
        Form("rcv1", True, ("rcv1_train.binary", "rcv1_test.binary"), _split(read_svmlight)),
        Form("rcv1-ccat", False, ("rcv1-ccat.svm",), _one(read_svmlight)),
    ),
    "astro": (
        Form("astro-ph", True, ("astro-ph_train.dat", "astro-ph_test.dat"), _split(read_svmlight)),
        Form(
            "arxiv-astro",
            False,
            ("arxiv-astro.tsv",),
            _one(words.table_reader(("title", "abstract"), words.WORDS)),
        ),
    ),
    "spam": (
        Form("trec05p-1", True, ("trec05p-1/full/index",), _one(words.read_mail)),
        Form("enron-spam", False, ("enron-spam.tsv",), _one(words.table_reader(("text",), words.WORDS))),
    ),
    "webspam": (
        Form("webspam", True, ("webspam_wc_normalized_trigram.svm",), _one(read_svmlight), _WEBSPAM_TEST),
        Form(
            "webspam-unigram",
            True,
            ("webspam_wc_normalized_unigram.svm",),
            _one(read_svmlight),
            _WEBSPAM_TEST,
        ),
        Form("url-spam", False, ("url-spam.tsv",), _one(words.table_reader(("url",), words.TRIGRAMS))),
    ),
}


def find(place: str, folder: Path) -> FoundDataset:
    """The first form whose files exist. Half an original is an error: nothing is replaced silently."""
    found = _first(place, folder)
    if found is None:
        raise click.ClickException(_missing(folder))
    return found


def _first(place: str, folder: Path) -> FoundDataset | None:
    for form in FORMS[place]:
        paths = [_file(folder, name) for name in form.files]
        there = tuple(path for path in paths if path is not None)
        if len(there) == len(paths):
            return FoundDataset(form, there)
        _check_folders(folder, form)
        if there:
            absent = form.files[paths.index(None)]
            raise click.ClickException(
                f"{folder} has {there[0].name}, but no {absent}: {form.name} needs both; put it there, "
                f"or take {there[0].name} away (docs/paper-data.md)"
            )
    return None


def _check_folders(folder: Path, form: Form) -> None:
    """A corpus that was unpacked partly, or elsewhere, also counts as half an original."""
    for name in form.files:
        corpus, _, within = name.partition("/")
        if within and (folder / corpus).is_dir():
            raise click.ClickException(
                f"{folder / corpus} is there, but no {within} in it: unpack {form.name} whole, or take "
                "the folder away (docs/paper-data.md)"
            )


def _file(folder: Path, name: str) -> Path | None:
    """The file, compressed or not."""
    candidates = [folder / (name + suffix) for suffix in COMPRESSED]
    return next((path for path in candidates if path.is_file()), None)


def _missing(folder: Path) -> str:
    """An error about all missing data sets at once."""
    lines = [
        f"  {place}: " + ", or ".join(" and ".join(form.files) for form in FORMS[place])
        for place in FORMS
        if _first(place, folder) is None
    ]
    return (
        f"{folder} lacks data sets. Each needs one of these, possibly with .gz, .bz2 or .xz:\n"
        + "\n".join(lines)
        + "\ndocs/paper-data.md says where they come from. STEELYARD_DATA names the folder."
    )
