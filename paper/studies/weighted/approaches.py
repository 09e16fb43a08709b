"""The steps of Section 2: every approach at every rate, on a weighted data set."""

import numpy as np

from paper import data
from paper.studies.weighted import learning, measures, sets
from paper.study import Row, Step

TABLE = "section2"
APPROACHES = ("ignored", "copies", "explicit", "rejection", "costing", "implicit", "invariant")
SURVEYS = ("adult", "census-income", "credit-costs")
PLACE = "rcv1"
LARGEST = 1000.0
MEAN = 10.0


def step(name: str, seed: int, rows: int) -> Step:
    """A step on at most so many rows. `name` is one of SURVEYS, or PLACE, whose weights are random."""
    digest, called = (data.digest(name), data.name(name)) if name == PLACE else (sets.digest(name), name)
    inputs = {"data": digest, "seed": seed, "rows": rows}
    return Step(TABLE, f"{called} {seed}", inputs, lambda: _compare(name, seed, rows))


def round_weights(weights: sets.Floats, mean: float | None) -> sets.Floats:
    """Weights as whole numbers of at least 1, scaled to this mean first; copies need such weights."""
    scaled = weights if mean is None else weights * (mean / weights.mean())
    return np.maximum(np.rint(scaled), 1.0)


def _compare(name: str, seed: int, rows: int) -> list[Row]:
    made_up = name == PLACE
    found = sets.draw_weights(data.load(name), LARGEST, seed) if made_up else sets.load(name)
    train, test = (part[:rows] for part in found.split(seed))
    weights = round_weights(found.weights, None if made_up else MEAN)
    # random weights say nothing about how much a row matters
    counted = None if made_up else found.weights[test]
    matrix, labels, unseen, truth = (
        found.matrix[train],
        found.labels[train],
        found.matrix[test],
        found.labels[test],
    )
    for approach in ("copies", *learning.UPDATES):  # compile first, so that no time includes it
        learning.learn(approach, matrix[:9], labels[:9], weights[train][:9], rate=1.0, seed=0)
    results: list[Row] = []
    for approach in APPROACHES:
        for rate in learning.RATES:
            learned = learning.learn(approach, matrix, labels, weights[train], rate=rate, seed=seed)
            odds = learned.odds(unseen)
            results.append({
                "data": found.name, "seed": seed, "rows": len(train), "approach": approach, "rate": rate,
                "log_loss": measures.log_loss(odds, truth, counted),
                "error": measures.error(odds, truth, counted),
                "seconds": learned.seconds, "updates": learned.updates,
                "largest_weight": float(weights.max()), "mean_weight": float(weights.mean()),
            })  # fmt: skip
    return results
