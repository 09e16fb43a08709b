"""A slow active learner, IWAL as the formulas have it, row by row; and streams and askers to try it on."""

import math
from typing import Any

import numpy as np
from scipy import sparse

from steelyard import losses, updates
from steelyard.active.simulation import Asker
from steelyard.active.strategies.iwal import CONSTANTS
from steelyard.losses import class_labels, decision_point
from steelyard.settings import Settings
from tests.support.naive import NaiveLearner


class NaiveAsker:
    def __init__(self, asker: Asker, features: int, constants: str, floor: float) -> None:
        self.asker = asker
        self.learner = NaiveLearner(asker.settings, features)
        self.learner.base = 0.0
        self.c1, self.c2 = CONSTANTS[constants].c1, CONSTANTS[constants].c2
        self.floor = floor
        self.asked: list[int] = []

    def learn(self, matrix: Any, labels: np.ndarray, draws: np.ndarray) -> None:
        for row in range(matrix.shape[0]):
            entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
            x = dict(zip(matrix.indices[entries].tolist(), matrix.data[entries].tolist(), strict=True))
            probability = self.probability(x, row + 1)
            if draws[row] < probability:
                self.asked.append(row)
                h = 1.0 / probability if self.asker.strategy == "iwal" else 1.0
                self.learner.learn_row(x, float(labels[row]), h)

    def probability(self, x: dict[int, float], k: int) -> float:
        settings = self.asker.settings
        boundary = decision_point(settings.loss)
        p = self.learner.predict(x)
        if self.asker.strategy == "random":
            return self.asker.parameter
        if self.asker.strategy == "margin":
            return float(abs(p - boundary) <= self.asker.parameter)
        n = sum(value * value for value in x.values()) + settings.bias
        low, high = class_labels(settings.loss)
        other = low if p > boundary else high
        time = updates.by_name(settings.update).push_for(settings.loss, p, other, boundary - p)
        rate = settings.schedule().rate(self.learner.clock)
        flip = time / (rate if settings.scaling == "row_norm" else rate * n) if n else 0.0
        if k == 1:
            return 1.0
        g, b = flip / k, self.asker.parameter * math.log(k) / (k - 1)
        if g <= math.sqrt(b) + b:
            return 1.0
        if math.isinf(g):
            return self.floor
        return max(
            self.floor,
            bisect(
                lambda s: (
                    (self.c1 / math.sqrt(s) - self.c1 + 1) * math.sqrt(b)
                    + (self.c2 / s - self.c2 + 1) * b
                    - g
                )
            ),
        )


def bisect(f: Any) -> float:
    """The root of a falling function between 0 and 1."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = math.sqrt(low * high) if low > 0.0 else 1e-3 * high
        if f(middle) > 0.0:
            low = middle
        else:
            high = middle
    return high


def stream(low: float = -1.0, rows: int = 120) -> tuple[sparse.csr_array, np.ndarray]:
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(rows, 8)) * (rng.random((rows, 8)) < 0.6)
    dense[17] = 0.0
    labels = np.where(dense[:, 0] + 0.5 * dense[:, 1] + 0.3 * rng.normal(size=rows) > 0.0, 1.0, low)
    return sparse.csr_array(dense), labels


def askers(loss: str, scaling: str, bias: bool = True) -> list[Asker]:
    kind = losses.by_name(loss)
    return [
        Asker(
            Settings(kind, update, scaling, rate, 10.0, power, bias=bias, dtype="float64"), policy, parameter
        )
        for update in updates.names_for(kind)
        for rate, power in ((0.05, 0.0), (0.2, 0.5))
        for policy, parameter in (("iwal", 1e-3), ("iwal", 1.0), ("random", 0.3), ("margin", 0.2))
    ]
