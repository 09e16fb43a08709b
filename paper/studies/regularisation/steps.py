"""The work of the study: penalties of all strengths, and weights against copies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paper import data, sweeping
from paper.study import Row, Scope, Step
from steelyard import Learner, OnlineClassifier, Settings, losses
from steelyard.examples import examples

PENALTIES, COPIES = "regularisation", "regularisation_copies"
LOSSES = ("squared", "logistic", "hinge")
UPDATES = ("explicit", "invariant")
STRENGTHS = [10.0**k for k in range(-8, 4)]
RATES = (0.5, 4.0)
COPIED_RATE = 0.5
SHUFFLE = 0
TIMES = (1, 10, 100)
COPIED_STRENGTHS = (1e-4, 1e-2, 1.0)
WAYS = {
    "explicit, split": {"update": "explicit", "l2_flow": "split"},
    "invariant, split": {"update": "invariant", "l2_flow": "split"},
    "invariant, joint": {"update": "invariant", "l2_flow": "joint"},
}

Numbers = NDArray[np.float64]
Indices = NDArray[np.integer[Any]]
MatrixAndLabels = tuple[sparse.csr_matrix, Numbers]


def steps(scope: Scope) -> list[Step]:
    most, copied = scope.choose(20_000, 10_000), scope.choose(1_000, 300)
    places = scope.choose(data.PLACES, data.PLACES[:2])
    return [_penalty_step(place, loss, most) for place in places for loss in LOSSES] + [
        _copies_step(loss, copied) for loss in LOSSES
    ]


def _penalty_step(place: str, loss: str, most: int) -> Step:
    def compute() -> list[Row]:
        matrix, labels, every = sweeping.load_shuffled(place, SHUFFLE, most)
        held_out = np.arange(len(labels)) % every == every - 1
        learned, tested = (matrix[~held_out], labels[~held_out]), (matrix[held_out], labels[held_out])
        met = np.unique(learned[0].indices)
        return [
            {
                "data": data.name(place),
                "loss": loss,
                "update": update,
                "penalty": penalty,
                "strength": strength,
                "rate": rate,
                **_fit(loss, update, rate, {penalty: strength}, learned, tested, met),
            }
            for update in UPDATES
            for penalty in ("l1", "l2")
            for rate in RATES
            for strength in (0.0, *STRENGTHS)
        ]

    return Step(
        PENALTIES,
        f"{data.name(place)} {loss}",
        sweeping.collect_inputs(place, rows=most, shuffle=SHUFFLE),
        compute,
    )


def _fit(
    loss: str,
    update: str,
    rate: float,
    penalty: dict[str, Any],
    learned: MatrixAndLabels,
    tested: MatrixAndLabels,
    met: Indices,
) -> Row:
    classifier = OnlineClassifier(
        loss,
        update=update,
        scaling="row_norm",
        learning_rate=rate,
        fit_intercept=False,
        passes=1,
        shuffle=False,
        **penalty,
    )
    try:
        classifier.fit(*learned)
    except FloatingPointError:
        return {"accuracy": 0.0, "used": 1.0, "largest": float("inf"), "diverged": True}
    weights = classifier.coef_
    return {
        "accuracy": float(classifier.score(*tested)),
        "used": float((weights.ravel()[met] != 0.0).mean()),
        "largest": float(np.abs(weights).max()),
        "diverged": False,
    }


def _copies_step(loss: str, count: int) -> Step:
    """On the first of the data sets; a fifth of the rows have the weight, the rest weigh 1."""
    place = data.PLACES[0]

    def compute() -> list[Row]:
        matrix, labels, _ = sweeping.load_shuffled(place, SHUFFLE, count)
        weights = np.where(np.arange(len(labels)) % 5 == 0, 1.0, 0.0)
        return [
            {
                "data": data.name(place),
                "loss": loss,
                "way": way,
                "strength": strength,
                "times": times,
                "rows": len(labels),
                "deviation": _deviation(
                    loss, settings, strength, matrix, labels, 1.0 + (times - 1.0) * weights
                ),
            }
            for way, settings in WAYS.items()
            for strength in COPIED_STRENGTHS
            for times in TIMES
        ]

    return Step(COPIES, loss, sweeping.collect_inputs(place, rows=count, shuffle=SHUFFLE), compute)


def _deviation(
    loss: str,
    way: dict[str, str],
    strength: float,
    matrix: sparse.csr_matrix,
    labels: Numbers,
    weights: Numbers,
) -> float:
    """The largest difference of a prediction, over the largest prediction; infinite if one of them "
    "diverges."""
    settings = Settings(
        loss=losses.by_name(loss), scaling="row_norm", learning_rate=COPIED_RATE, l2=strength, bias=False,
        dtype="float64", update=way["update"], l2_flow=way["l2_flow"],
    )  # fmt: skip
    order = np.repeat(np.arange(len(labels)), weights.astype(np.int64))
    weighted, copies = Learner(settings, matrix.shape[1]), Learner(settings, matrix.shape[1])
    try:
        weighted.learn(examples(matrix, labels, weights))
        copies.learn(examples(matrix[order], labels[order]))
    except FloatingPointError:
        return float("inf")
    one, other = weighted.predict(examples(matrix)), copies.predict(examples(matrix))
    return float(np.abs(one - other).max() / np.abs(other).max())
