"""The steps on penalties of all strengths."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paper import data, sweeping
from paper.grids import FloatArray
from paper.studies.regularisation import copies
from paper.study import Row, Scope, Step
from steelyard import OnlineClassifier

PENALTIES = "regularisation"
LOSSES = ("squared", "logistic", "hinge")
UPDATES = ("explicit", "invariant")
STRENGTHS = [10.0**k for k in range(-8, 4)]
RATES = (0.5, 4.0)
SHUFFLE = 0

Indices = NDArray[np.integer[Any]]
MatrixAndLabels = tuple[sparse.csr_matrix, FloatArray]


def steps(scope: Scope) -> list[Step]:
    most = scope.choose(20_000, 10_000)
    places = scope.choose(data.PLACES, data.PLACES[:2])
    return [_penalty_step(place, loss, most) for place in places for loss in LOSSES] + [
        copies.step(loss, scope) for loss in LOSSES
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
