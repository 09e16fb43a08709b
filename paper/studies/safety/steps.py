"""The steps of the study: single updates, and whole passes with larger and larger rates and weights."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper import data, single_steps, sweeping
from paper.study import Row, Scope, Step
from steelyard import OnlineClassifier, Sweep, losses, updates

SINGLE, REGRET = "safety", "safety_regret"
LOSSES = ("squared", "logistic", "hinge")
RATES = [2.0**k for k in range(-16, 9)]
WEIGHTS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
"""The largest importance weights; they are drawn log-uniformly from 1."""

SHUFFLE, WEIGHT_SEED = 0, 1


def single(scope: Scope) -> list[Step]:
    return [_single(name, scope.choose(20_000, 2_000)) for name in losses.names()]


def passes(scope: Scope) -> list[Step]:
    most, times = scope.choose(None, 10_000), scope.choose(20, 5)
    places = scope.choose(data.PLACES, data.PLACES[:1])
    return [_regret(place, loss, most, times) for place in places for loss in LOSSES]


def _single(name: str, count: int) -> Step:
    def compute() -> list[Row]:
        return [
            single_steps.measure_steps(name, update, count, 0)
            for update in updates.names_for(losses.by_name(name))
        ]

    source = data.file_digest(Path(str(single_steps.__file__)))
    return Step(SINGLE, name, {"count": count, "seed": 0, "pushes": source}, compute)


def _regret(place: str, loss: str, most: int | None, passes: int) -> Step:
    def compute() -> list[Row]:
        matrix, labels, _ = sweeping.load_shuffled(place, SHUFFLE, most)
        return [
            row for largest in WEIGHTS for row in _progressive(place, loss, matrix, labels, largest, passes)
        ]

    key = f"{data.name(place)} {loss}"
    return Step(
        REGRET,
        key,
        sweeping.collect_inputs(place, rows=most, passes=passes, shuffle=SHUFFLE, weight_seed=WEIGHT_SEED),
        compute,
    )


def _progressive(
    place: str, loss: str, matrix: Any, labels: NDArray[np.float64], largest: float, passes: int
) -> list[Row]:
    """A row for every update and rate: its progressive loss, and that of the best predictor found."""
    weights = largest ** np.random.default_rng(WEIGHT_SEED).uniform(0.0, 1.0, len(labels))
    classifier = OnlineClassifier(
        loss, scaling="row_norm", fit_intercept=False, weight_scale="as_given", passes=1, shuffle=False
    )
    grid: dict[str, list[Any]] = {"update": updates.names_for(losses.by_name(loss)), "learning_rate": RATES}
    columns = Sweep(classifier, grid, refit=False).fit(matrix, labels, sample_weight=weights).cv_results_
    fixed = _in_hindsight(loss, matrix, labels, weights, passes)
    return [
        {
            "data": data.name(place),
            "loss": loss,
            "largest_weight": largest,
            **point,
            "progressive_loss": float(columns["progressive_loss"][number]),
            "fixed_loss": fixed,
            "diverged": bool(columns["diverged"][number]),
        }
        for number, point in enumerate(columns["params"])
    ]


def _in_hindsight(
    loss: str, matrix: Any, labels: NDArray[np.float64], weights: NDArray[np.float64], passes: int
) -> float:
    """The lowest mean loss of a fixed predictor that many passes find; the optimum may be slightly lower."""
    return min(_mean_loss(loss, rate, matrix, labels, weights, passes) for rate in (0.5, 2.0))


def _mean_loss(
    loss: str,
    rate: float,
    matrix: Any,
    labels: NDArray[np.float64],
    weights: NDArray[np.float64],
    passes: int,
) -> float:
    mean_one = weights / weights.mean()  # the same minimum, and steps of a usual size
    classifier = OnlineClassifier(
        loss, scaling="normalized", learning_rate=rate, fit_intercept=False, passes=passes, shuffle=False
    )
    classifier.fit(matrix, labels, sample_weight=mean_one)
    value = losses.by_name(loss).value
    predictions = classifier.decision_function(matrix).tolist()
    each = [value(p, y) for p, y in zip(predictions, labels.tolist(), strict=True)]
    return float(np.average(each, weights=weights))
