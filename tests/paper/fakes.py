"""Small data in the place of the paper's, and rows as sweeps would give them."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import sparse

from paper import data, feature_values, sweeping
from paper.data import Data
from paper.study import Row

ROWS, FEATURES = 200, 12
FEW_SCHEDULES = {"learning_rate": [1.0, 1024.0], "initial_t": [100.0], "power_t": [0.5]}


def small_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place holds the same two hundred rows, and two schedules are all."""
    random = np.random.default_rng(0)
    matrix = sparse.csr_matrix(random.poisson(0.5, (ROWS, FEATURES)).astype(np.float32))
    labels = np.where(matrix @ random.normal(size=FEATURES) > 0.0, 1.0, -1.0)
    monkeypatch.setattr(data, "load", lambda place: Data(data.name(place), False, matrix, labels))
    monkeypatch.setattr(data, "digest", lambda place: "0")
    feature_values.matrix.cache_clear()
    monkeypatch.setattr(sweeping, "SCHEDULES", FEW_SCHEDULES)


def swept_rows(
    accuracy: Callable[[str, str, int], float],
    *,
    places: Sequence[str] = ("one", "two"),
    losses: Sequence[str] = sweeping.LOSSES,
    updates: Sequence[str] = sweeping.UPDATES,
    schedules: int = 10,
    shuffles: int = 2,
) -> list[Row]:
    """With the accuracy that is said of a loss, an update and a schedule, by its number."""
    return [
        {
            "data": place,
            "loss": loss,
            "update": update,
            "shuffle": shuffle,
            "tested": 1000,
            "accuracy": accuracy(loss, update, number),
            "progressive_error": 1.0 - accuracy(loss, update, number),
            "progressive_loss": 1.0 - accuracy(loss, update, number),
            "diverged": accuracy(loss, update, number) == 0.0,
        }
        for place in places
        for loss in losses
        for shuffle in range(shuffles)
        for update in updates
        for number in range(schedules)
    ]
