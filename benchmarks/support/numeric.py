"""Sets with a number to predict: generated ones, those of scikit-learn, and columns of the real sets.

    problem = numeric.load("diabetes")

Numbers are left as they come, so targets have offsets and scales of every kind.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3, make_regression
from sklearn.feature_extraction import DictVectorizer

from benchmarks.support.labelled import ADULT, CENSUS, Problem, Reader, Survey, credit

ROWS = 5000


def names() -> list[str]:
    return list(_SETS)


def load(name: str) -> Problem:
    return _SETS[name](name)


def _made(make: Callable[..., Any], *, scale: float = 1.0, offset: float = 0.0, **options: Any) -> Reader:
    """A generated set; its target is multiplied by the scale, then moved by the offset."""

    def read(name: str) -> Problem:
        matrix, target = make(n_samples=ROWS, random_state=0, **options)
        return Problem(name, sparse.csr_matrix(matrix.astype(np.float32)), scale * target + offset)

    return read


def _diabetes(name: str) -> Problem:
    matrix, target = load_diabetes(return_X_y=True, scaled=False)
    return Problem(name, sparse.csr_matrix(matrix.astype(np.float32)), target)


def _prices(name: str) -> Problem:
    """A small file in Vowpal Wabbit's format: features with a value each, in namespaces."""
    path = Path(os.environ.get("STEELYARD_DATA", "")) / "vw" / "0002.dat"
    features, target = [], []
    for line in path.read_text().splitlines():
        head, *namespaces = line.split("|")
        target.append(float(head.split()[0]))
        row = {}
        for space, *pairs in (text.split() for text in namespaces):
            for name_and_value in pairs:
                feature, _, value = name_and_value.partition(":")
                row[f"{space}^{feature}"] = float(value or 1.0)
        features.append(row)
    return Problem(name, DictVectorizer(dtype=np.float32).fit_transform(features), np.array(target))


def _logarithm(read: Reader) -> Reader:
    def read_log(name: str) -> Problem:
        problem = read(name)
        return replace(problem, labels=np.log1p(problem.labels))

    return read_log


_LINEAR = {"n_features": 20, "n_informative": 10, "noise": 20.0}

_SETS: dict[str, Reader] = {
    "diabetes": _diabetes,
    "friedman 1": _made(make_friedman1, noise=1.0),
    "friedman 2": _made(make_friedman2, noise=50.0),
    "friedman 3": _made(make_friedman3, noise=0.1),
    "linear": _made(make_regression, **_LINEAR),
    "linear, × 0.001": _made(make_regression, scale=1e-3, **_LINEAR),
    "linear, × 1,000,000": _made(make_regression, scale=1e6, **_LINEAR),
    "linear, + 10,000": _made(make_regression, offset=1e4, **_LINEAR),
    "linear, 200 columns": _made(make_regression, n_features=200, n_informative=50, noise=50.0),
    "prices": _prices,
    "credit-costs, age": credit("age"),
    "credit-costs, income": credit("MonthlyIncome"),
    "credit-costs, log income": _logarithm(credit("MonthlyIncome")),
    "census-income, age": Survey(*CENSUS, target=0),
    "census-income, wage": Survey(*CENSUS, target=5),
    "census-income, weeks": Survey(*CENSUS, target=39),
    "adult, age": Survey(*ADULT, target=0),
    "adult, hours": Survey(*ADULT, target=12),
}
