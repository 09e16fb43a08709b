"""The steps on Theorem 3: regret of the invariant update on streams of unit rows, h = 1, loss (p − y)².

Three streams: rows of one dimension, random rows of ten, and a stream against the second half of the theorem:
e₁ for the first half of the time and e₂ for the second, all labels 1.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from paper.grids import FloatArray
from paper.study import Row, Scope, Step

TABLE = "safety_theorem"
LENGTHS = (1_000, 4_000, 16_000, 64_000)
RATES: dict[str, Callable[[int], float]] = {"1/√t": lambda t: t**-0.5, "1/t": lambda t: 1.0 / t}
STREAMS = ("one dimension", "ten dimensions", "two halves")
_NOISE = 0.5


def steps(scope: Scope) -> list[Step]:
    seeds = scope.choose(5, 1)
    return [
        Step(TABLE, f"{stream} {seed}", {"seed": seed, "lengths": LENGTHS}, partial(rows, stream, seed))
        for stream in STREAMS
        for seed in range(seeds if stream != "two halves" else 1)
    ]


def rows(stream: str, seed: int) -> list[Row]:
    return [
        {
            "stream": stream,
            "seed": seed,
            "rate": rate,
            "length": length,
            "regret": regret(*draw(stream, length, seed), RATES[rate]),
        }
        for length in LENGTHS
        for rate in RATES
    ]


def draw(stream: str, length: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Rows of length 1, and labels within −1 and 1."""
    random = np.random.default_rng(seed)
    if stream == "two halves":
        matrix = np.zeros((length, 2))
        matrix[: length // 2, 0] = matrix[length // 2 :, 1] = 1.0
        return matrix, np.ones(length)
    width = 1 if stream == "one dimension" else 10
    truth = random.normal(size=width)
    matrix = random.normal(size=(length, width)) if width > 1 else np.ones((length, 1))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix, np.clip(matrix @ truth + _NOISE * random.normal(size=length), -1.0, 1.0)


def regret(matrix: FloatArray, labels: FloatArray, rate: Callable[[int], float]) -> float:
    """The loss of the online predictions less that of the best fixed weights."""
    weights = np.zeros(matrix.shape[1])
    lost = 0.0
    for t, (x, y) in enumerate(zip(matrix, labels.tolist(), strict=True), start=1):
        residual = float(weights @ x) - y
        lost += residual * residual
        # the flow of (p − y)² leaves e^(−2η) of the residual
        weights += math.expm1(-2.0 * rate(t)) * residual * x
    best, *_ = np.linalg.lstsq(matrix, labels, rcond=None)
    return lost - float(((matrix @ best - labels) ** 2).sum())
