"""The steps on costs: loans are given or refused, and each wrong decision has its own cost."""

import numpy as np

from paper.studies.weighted import learning, sets
from paper.study import Row, Step

TABLE = "costs"
NAME = "credit-costs"
APPROACHES = ("ignored", "threshold", *learning.UPDATES)
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def step(seed: int, rows: int) -> Step:
    inputs = {"data": sets.digest(NAME), "seed": seed, "rows": rows}
    return Step(TABLE, f"{NAME} {seed}", inputs, lambda: _decide(seed, rows))


def _decide(seed: int, rows: int) -> list[Row]:
    found = sets.load(NAME)
    train, test = (part[:rows] for part in found.split(seed))
    matrix, labels, weights = found.matrix[train], found.labels[train], found.weights[train]
    unseen, truth, costs = found.matrix[test], found.labels[test], found.weights[test]

    def cost(refused: object) -> float:
        wrong = np.asarray(refused) != (truth > 0.0)
        return float(np.mean(costs * wrong))

    spread = float(weights.max() / weights.mean())
    everybody: Row = {"seed": seed, "rows": len(train), "rate": 0.0, "largest_over_mean": spread}
    results: list[Row] = [
        {**everybody, "approach": "give to all", "cost": cost(np.zeros(len(truth), bool))},
        {**everybody, "approach": "give to none", "cost": cost(np.ones(len(truth), bool))},
    ]
    for approach in APPROACHES:
        for rate in RATES:
            way = "ignored" if approach == "threshold" else approach
            odds = learning.learn(way, matrix, labels, weights, rate=rate, seed=seed).odds(unseen)
            results.append(
                {**everybody, "approach": approach, "rate": rate, "cost": cost(odds > _border(approach))}
            )
    return results


def _border(approach: str) -> float:
    """The log-odds of falling behind above which refusing is cheaper; 0 if the weights account for costs."""
    return float(np.log(sets.LOST_IF_GOOD / sets.LOST_IF_BAD)) if approach == "threshold" else 0.0
