"""Tiny sets in place of the real ones, and steps that are done without a store."""

import numpy as np
import pytest
from scipy import sparse

from paper import data
from paper.data import Data
from paper.studies.weighted import sets
from paper.studies.weighted.sets import WeightedData
from paper.study import Row, Scope, Study

QUICK = Scope(quick=True)


def separable(rows: int = 250, seed: int = 0) -> Data:
    """Two classes that a line tells apart, but for some noise."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(rows, 4))
    noise = random.normal(scale=0.3, size=rows)
    labels = np.where(points[:, 0] - points[:, 1] + noise > 0.0, 1.0, -1.0)
    return Data("made up", False, sparse.csr_matrix(points.astype(np.float32)), labels)


def weighted(name: str) -> WeightedData:
    found = separable()
    weights = np.random.default_rng(1).integers(1, 30, len(found.labels)).astype(float)
    return WeightedData(name, True, found.matrix, found.labels, weights=weights)


def put_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every set that is loaded by name."""
    monkeypatch.setattr(data, "load", lambda place: separable())
    monkeypatch.setattr(data, "digest", lambda place: place)
    monkeypatch.setattr(sets, "load", weighted)
    monkeypatch.setattr(sets, "digest", lambda *names: list(names))


def tables(study: Study, scope: Scope = QUICK) -> dict[str, list[Row]]:
    """The rows of all steps, which are done here and now."""
    found: dict[str, list[Row]] = {}
    for step in study.steps(scope):
        found.setdefault(step.table, []).extend(step.compute())
    return found
