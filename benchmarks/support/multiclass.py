"""Sets with more than two classes; labels are the numbers of the classes.

problem = several.load("newsgroups, all twenty")
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine

from benchmarks.support.labelled import Problem, Reader, table, words


def names() -> list[str]:
    return list(_SETS)


def load(name: str) -> Problem:
    return _SETS[name](name)


def _newsgroups(name_of: Callable[[str], str]) -> Reader:
    def read(name: str) -> Problem:
        rows = sorted(table("newsgroups.tsv.xz"), key=lambda row: row["split"] == "test")
        counts = words().fit_transform(row["text"] for row in rows)
        _, codes = np.unique([name_of(row["group"]) for row in rows], return_inverse=True)
        return Problem(name, counts, codes.astype(np.float64), sum(row["split"] == "test" for row in rows))

    return read


def _bundled(loader: Callable[..., Any]) -> Reader:
    def read(name: str) -> Problem:
        matrix, codes = loader(return_X_y=True)
        return Problem(name, sparse.csr_matrix(matrix.astype(np.float32)), codes.astype(np.float64))

    return read


_SETS: dict[str, Reader] = {
    "newsgroups, all twenty": _newsgroups(lambda group: group),
    "newsgroups, seven fields": _newsgroups(lambda group: group.partition(".")[0]),
    "digits, all ten": _bundled(load_digits),
    "iris": _bundled(load_iris),
    "wine": _bundled(load_wine),
}
