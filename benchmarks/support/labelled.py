"""Real sets with two classes, read from the folder in the environment variable STEELYARD_DATA.

    problem = labelled.load("sms-spam")
    train, test = problem.split(seed=0)      # row numbers; the rows to learn are shuffled

Labels are −1 and +1, features a CSR matrix of float32: words `[a-z0-9]+` as counts, characters in
threes for URLs, one column a category, numbers as they come, unscaled.
"""

import csv
import gzip
import lzma
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer

TEST_SHARE = 0.2


@dataclass(frozen=True)
class Problem:
    """Rows in the order of the file, and last the set's own test rows if it has any.

    Labels are −1 and 1, or any number in the problems of `benchmarks.support.numeric`.
    """

    name: str
    matrix: sparse.csr_matrix
    labels: NDArray[np.float64]
    own_test: int = 0
    weights: NDArray[np.float64] | None = None
    text: bool = False  # whether the features are counts of what is in a text

    def split(self, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to learn, shuffled, and rows to test: the set's own, or the last fifth after shuffling."""
        random = np.random.default_rng(seed)
        rows = len(self.labels)
        if self.own_test:
            return random.permutation(rows - self.own_test), np.arange(rows - self.own_test, rows)
        order = random.permutation(rows)
        first = rows - round(rows * TEST_SHARE)
        return order[:first], order[first:]


Reader = Callable[[str], Problem]


def names() -> list[str]:
    return list(_SETS)


def load(name: str) -> Problem:
    return _SETS[name](name)


def words() -> CountVectorizer:
    return CountVectorizer(token_pattern="[a-z0-9]+", dtype=np.float32)


def _trigrams() -> CountVectorizer:
    return CountVectorizer(analyzer="char", ngram_range=(3, 3), dtype=np.float32)


def _text(file: str, columns: tuple[str, ...], counter: Callable[[], CountVectorizer] = words) -> Reader:
    def read(name: str) -> Problem:
        rows = list(table(file))
        counts = counter().fit_transform(" ".join(row[c] for c in columns) for row in rows)
        return Problem(name, counts, np.array([float(row["label"]) for row in rows]), text=True)

    return read


def _newsgroups(positive: tuple[str, ...], negative: tuple[str, ...]) -> Reader:
    """The groups whose names start with one of the first against those that start with one of the second."""

    def read(name: str) -> Problem:
        rows = [row for row in table("newsgroups.tsv.xz") if row["group"].startswith(positive + negative)]
        rows.sort(key=lambda row: row["split"] == "test")
        counts = words().fit_transform(row["text"] for row in rows)
        labels = np.array([1.0 if row["group"].startswith(positive) else -1.0 for row in rows])
        return Problem(name, counts, labels, sum(row["split"] == "test" for row in rows), text=True)

    return read


def _reuters(topic: str) -> Reader:
    """News with this topic, alone or among others, against all other news."""

    def read(name: str) -> Problem:
        parts = [list(table(f"reuters21578-{part}.tsv.xz")) for part in ("train", "test")]
        rows = [row for part in parts for row in part]
        counts = words().fit_transform(row["text"] for row in rows)
        labels = np.array([1.0 if topic in row["topics"].split(",") else -1.0 for row in rows])
        return Problem(name, counts, labels, len(parts[-1]), text=True)

    return read


def _svmlight(train: tuple[str, ...], test: tuple[str, ...] = (), text: bool = False) -> Reader:
    def read(name: str) -> Problem:
        parts = [_svmlight_file(file) for file in train + test]
        width = max(matrix.shape[1] for matrix, _ in parts)
        for matrix, _ in parts:
            matrix.resize(matrix.shape[0], width)
        labels = np.concatenate([np.where(y > 0.0, 1.0, -1.0) for _, y in parts])
        own_test = sum(matrix.shape[0] for matrix, _ in parts[len(train) :])
        matrix = sparse.vstack([matrix for matrix, _ in parts], format="csr")
        return Problem(name, matrix, labels, own_test, text=text)

    return read


def _svmlight_file(file: str) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    with open_file(file, "rb") as stream:
        matrix, labels = load_svmlight_file(stream, dtype=np.float32, zero_based=True)
    return matrix, labels


@dataclass(frozen=True)
class Survey:
    """People, one a line: categories and numbers, a survey weight, and last whether they earn much.

    What is to be predicted is the last, or the number in the column `target`.
    """

    files: tuple[str, ...]
    numbers: frozenset[int]
    weight: int
    own_test: bool = False
    bins: int = 0  # numbers are cut into so many bins of equal size, a column each; 0: left as they are
    target: int = -1

    def __call__(self, name: str) -> Problem:
        parts = [self._rows(file) for file in self.files]
        rows = [row for part in parts for row in part]
        edges = {c: self._edges(rows, c) for c in self.numbers} if self.bins else {}
        matrix = DictVectorizer(dtype=np.float32).fit_transform(self._features(row, edges) for row in rows)
        labels = np.array([self._label(row[self.target]) for row in rows])
        weights = np.array([float(row[self.weight]) for row in rows])
        return Problem(name, matrix, labels, len(parts[-1]) if self.own_test else 0, weights)

    def _rows(self, file: str) -> list[list[str]]:
        with open_file(file) as stream:
            rows = [[cell.strip() for cell in line.split(",")] for line in stream]
        return [row for row in rows if len(row) > self.weight]

    def _label(self, cell: str) -> float:
        if self.target >= 0:
            return float(cell)
        return -1.0 if cell.startswith(("<=", "-")) else 1.0

    def _edges(self, rows: list[list[str]], column: int) -> NDArray[np.float64]:
        inner = np.linspace(0.0, 1.0, self.bins + 1)[1:-1]
        return np.unique(np.quantile([float(row[column]) for row in rows], inner))

    def _features(self, row: list[str], edges: dict[int, NDArray[np.float64]]) -> dict[str, float | str]:
        features: dict[str, float | str] = {}
        for c, cell in enumerate(row if self.target >= 0 else row[:-1]):
            if c == self.target:
                continue
            if c in edges:
                features[str(c)] = f"bin {np.searchsorted(edges[c], float(cell))}"
            elif c != self.weight:
                features[str(c)] = float(cell) if c in self.numbers else cell.rstrip(".")
        return features


def credit(target: str | None = None) -> Reader:
    """Numbers as they come; a missing one is 0, with a column that says so.

    What is to be predicted is whether people will fall behind, or the number in the column `target`.
    """

    def read(name: str) -> Problem:
        with open_file("credit-costs.csv.gz") as stream:
            table = csv.DictReader(stream)
            rows = [list(row.values())[1:] for row in table]
            place = 0 if target is None else list(table.fieldnames or ()).index(target) - 1
        cells = np.array(
            [[float(cell) if cell not in ("", "NA") else np.nan for cell in row] for row in rows]
        )
        cells = cells[~np.isnan(cells[:, place])]
        labels, numbers = cells[:, place], np.delete(cells, place, axis=1)
        missing = np.isnan(numbers)
        full = np.hstack([np.where(missing, 0.0, numbers), missing[:, missing.any(axis=0)]])
        signs = np.where(labels > 0.0, 1.0, -1.0)
        return Problem(
            name, sparse.csr_matrix(full.astype(np.float32)), labels if target is not None else signs
        )

    return read


def _bundled(loader: Callable[..., Any], largest_negative: int) -> Reader:
    """A small set of numbers that comes with scikit-learn."""

    def read(name: str) -> Problem:
        matrix, classes = loader(return_X_y=True)
        labels = np.where(classes > largest_negative, 1.0, -1.0)
        return Problem(name, sparse.csr_matrix(matrix.astype(np.float32)), labels)

    return read


def table(file: str) -> Iterator[dict[str, str]]:
    with open_file(file) as stream:
        header = stream.readline().rstrip("\n").split("\t")
        for line in stream:
            yield dict(zip(header, line.rstrip("\n").split("\t"), strict=True))


def open_file(file: str, mode: str = "rt") -> Any:
    folder = os.environ.get("STEELYARD_DATA")
    if not folder:
        raise SystemExit("set the environment variable STEELYARD_DATA to the folder with the data sets")
    opener: Any = lzma.open if file.endswith(".xz") else gzip.open
    return opener(Path(folder) / file, mode, encoding=None if "b" in mode else "utf-8")


def _reviews(kind: str) -> tuple[str, ...]:
    return tuple(f"amazon-reviews/{d}_{kind}.svmlight.gz" for d in ("books", "dvd", "electronics", "kitchen"))


ADULT = (("adult.data.gz", "adult.test.gz"), frozenset({0, 4, 10, 11, 12}), 2, True)
CENSUS = (("census-income.gz",), frozenset({0, 5, 16, 17, 18, 30, 39}), 24)

_GROUPS = ("alt.", "comp.", "misc.", "rec.", "sci.", "soc.", "talk.")

_SETS: dict[str, Reader] = {
    "rcv1-ccat": _svmlight(("rcv1-ccat.svm.xz",)),
    "arxiv-astro": _text("arxiv-astro.tsv.xz", ("title", "abstract")),
    "enron-spam": _text("enron-spam.tsv.xz", ("text",)),
    "url-spam": _text("url-spam.tsv.xz", ("url",), _trigrams),
    "sms-spam": _text("sms-spam.tsv.xz", ("text",)),
    "newsgroups, comp": _newsgroups(("comp.",), _GROUPS),
    "newsgroups, religion": _newsgroups(("alt.atheism",), ("soc.religion.christian",)),
    "newsgroups, hardware": _newsgroups(("comp.sys.ibm.pc.hardware",), ("comp.sys.mac.hardware",)),
    "newsgroups, sport": _newsgroups(("rec.sport.baseball",), ("rec.sport.hockey",)),
    "newsgroups, space": _newsgroups(("sci.space",), _GROUPS),
    **{
        f"reuters, {topic}": _reuters(topic)
        for topic in ("earn", "acq", "grain", "ship", "crude", "money-fx")
    },
    "amazon-reviews": _svmlight(_reviews("train"), _reviews("test"), text=True),
    "a9a": _svmlight(("a9a.gz",), ("a9a.t.gz",)),
    "w8a": _svmlight(("w8a.gz",)),
    "adult, in bins": Survey(*ADULT, bins=10),
    "adult, raw numbers": Survey(*ADULT),
    "census-income, raw numbers": Survey(*CENSUS),
    "credit-costs, raw numbers": credit(),
    "breast cancer, raw numbers": _bundled(load_breast_cancer, 0),
    "digits": _bundled(load_digits, 4),
}
