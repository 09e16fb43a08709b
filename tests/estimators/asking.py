"""An `ActiveClassifier` and rows for its tests."""

from typing import Any

import numpy as np

from steelyard import ActiveClassifier
from tests.active.streams import rows

NAMES = np.array(["ham", "spam"])


def classifier(**given: Any) -> ActiveClassifier:
    parameters: dict[str, Any] = {"classes": ["ham", "spam"], "rate": 0.2} | given
    return ActiveClassifier(**parameters)


def data(count: int, seed: int = 0) -> tuple[Any, Any]:
    X, y = rows(count, seed)
    return X, NAMES[(y > 0.0).astype(int)]
