"""Data sets with weighted rows, from the folder named by STEELYARD_DATA.

    data = load("adult")
    data.matrix, data.labels, data.weights

`census-income` and `adult` have survey weights; `credit-costs` has the costs of wrong decisions;
`draw_weights` gives weights to a set that has none. A number is cut into bins, and a bin or a category is
a column of its own, 1 where it applies: a linear model then needs no scaling of its inputs.
"""

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paper import data
from paper.data import Data

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

BINS = 10


@dataclass(frozen=True)
class WeightedData(Data):
    """Rows with labels −1 and 1, and their weights."""

    weights: Floats = field(kw_only=True)


@cache
def load(name: str) -> WeightedData:
    return _READERS[name][1](name)


def digest(*names: str) -> list[str]:
    """The digests of their files."""
    return [data.file_digest(data.folder() / file) for name in names for file in FILES[name]]


def draw_weights(source: Data, largest: float, seed: int) -> WeightedData:
    """The rows of a data set with log-uniform weights from 1 to the largest."""
    random = np.random.default_rng([seed, 1])
    weights = np.exp(random.uniform(0.0, np.log(largest), len(source.labels)))
    return WeightedData(**vars(source), weights=weights)


def read_table(file: str, header: bool = False) -> list[list[str]]:
    """The cells of a CSV file; lines of another width are left out."""
    with gzip.open(data.folder() / file, "rt", encoding="utf-8", newline="") as stream:
        rows = [[cell.strip() for cell in row] for row in csv.reader(stream)]
    width = max(len(row) for row in rows)
    return [row for row in rows if len(row) == width][header:]


def categories(cells: Sequence[str]) -> Codes:
    """A code for each distinct cell."""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(cell, len(codes)) for cell in cells])


def bins(numbers: Floats) -> Codes:
    """Bins with equally many rows, as far as possible; missing values have their own bin."""
    known = numbers[~np.isnan(numbers)]
    inner = np.linspace(0.0, 1.0, BINS + 1)[1:-1]
    # many columns are mostly 0; the other values still need bins of their own
    edges = np.unique([np.quantile(part, inner) for part in (known, known[known != 0.0]) if len(part)])
    return np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers))


def indicators(columns: Sequence[Codes]) -> sparse.csr_matrix:
    """An indicator column for each code of each column."""
    widths = [int(column.max()) + 1 for column in columns]
    indices = np.stack(columns, axis=1) + np.concatenate([[0], np.cumsum(widths)[:-1]])
    rows, count = indices.shape
    values = np.ones(rows * count, np.float32)
    places = indices.ravel().astype(np.int32), np.arange(0, rows * count + 1, count)
    return sparse.csr_matrix((values, *places), shape=(rows, sum(widths)))


def number(cell: str) -> float:
    return float(cell) if cell not in ("", "NA") else float("nan")


def _survey(numbers: frozenset[int], weight: int) -> Callable[[str], WeightedData]:
    """A reader for surveys: one person a line, the income class in the last column."""

    def read(name: str) -> WeightedData:
        columns = list(zip(*[row for file in FILES[name] for row in read_table(file)], strict=True))
        coded = [
            bins(np.array([float(cell) for cell in column])) if place in numbers else categories(column)
            for place, column in enumerate(columns[:-1])
            if place != weight
        ]
        labels = np.array([-1.0 if cell.startswith(("<=", "-")) else 1.0 for cell in columns[-1]])
        weights = np.array([float(cell) for cell in columns[weight]])
        return WeightedData(name, True, indicators(coded), labels, weights=weights)

    return read


INCOME = 6
LINE = 1_000.0, 25_000.0
MONTHS = 3.0
LOST_IF_BAD, LOST_IF_GOOD = 0.75, 0.10


def _credit(name: str) -> WeightedData:
    """People who want a loan; the label is 1 if they fell behind with it.

    The file has incomes but no costs, so they are assumed: a loan of three months' income, from 1,000 to
    25,000 (the median if the income is unknown); 75 % of it is lost if the person falls behind, and 10 % is
    not earned if a person who would have paid is refused.
    """
    cells = np.array([[number(cell) for cell in row[1:]] for row in read_table(FILES[name][0], header=True)])
    income = cells[:, INCOME - 1]
    line = np.clip(MONTHS * np.where(np.isnan(income), np.nanmedian(income), income), *LINE)
    labels = np.where(cells[:, 0] > 0.0, 1.0, -1.0)
    weights = line * np.where(labels > 0.0, LOST_IF_BAD, LOST_IF_GOOD)
    described = indicators([bins(column) for column in cells[:, 1:].T])
    return WeightedData(name, True, described, labels, weights=weights)


_READERS: dict[str, tuple[tuple[str, ...], Callable[[str], WeightedData]]] = {
    "census-income": (("census-income.gz",), _survey(frozenset({0, 5, 16, 17, 18, 30, 39}), 24)),
    "adult": (("adult.data.gz", "adult.test.gz"), _survey(frozenset({0, 4, 10, 11, 12}), 2)),
    "credit-costs": (("credit-costs.csv.gz",), _credit),
}
FILES = {name: files for name, (files, _) in _READERS.items()}
