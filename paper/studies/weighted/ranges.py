"""The steps on the range of weights: the largest goes from 1 to 100,000, the rows stay the same."""

from paper import data
from paper.studies.weighted import learning, measures, sets
from paper.studies.weighted.approaches import round_weights
from paper.study import Row, Step

TABLE, CURVES = "weight_range", "weight_range_reliability"
LARGEST = (1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0)
APPROACHES = ("copies", *learning.UPDATES)
FEASIBLE = 1_000.0
"""The largest weight for which copies are made; 100,000 copies of a row would take too long."""
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
MOST_VALUES = 8_000_000
"""The most values in the training rows; copies of more would take too long."""
KEPT = 1.0
"""A rate that suits rows of weight one, kept when the weights grow: it is not divided by their mean."""


def step(place: str, largest: float, seed: int, rows: int) -> Step:
    inputs = {"data": data.digest(place), "seed": seed, "rows": rows}
    return Step(
        TABLE, f"{data.name(place)} {largest:g} {seed}", inputs, lambda: _measure(place, largest, seed, rows)
    )


def curves(place: str, largest: float, rows: int) -> Step:
    """Reliability of the first shuffle, at each rate."""
    inputs = {"data": data.digest(place), "seed": 0, "rows": rows}
    return Step(CURVES, f"{data.name(place)} {largest:g}", inputs, lambda: _reliability(place, largest, rows))


class _Trial:
    def __init__(self, place: str, largest: float, seed: int, rows: int) -> None:
        found = sets.draw_weights(data.load(place), largest, seed)
        fitting = int(MOST_VALUES * len(found.labels) / found.matrix.nnz)
        train, test = (part[: min(rows, fitting)] for part in found.split(seed))
        self.name = found.name
        self.matrix, self.labels, self.weights = (
            found.matrix[train],
            found.labels[train],
            round_weights(found.weights[train], None),
        )
        self.unseen, self.truth = found.matrix[test], found.labels[test]
        self.seed = seed
        self.rates = {f"{rate:g}": rate for rate in RATES} | {"kept": KEPT * float(self.weights.mean())}

    def odds(self, approach: str, rate: float) -> sets.Floats:
        learned = learning.learn(approach, self.matrix, self.labels, self.weights, rate=rate, seed=self.seed)
        return learned.odds(self.unseen)


def _measure(place: str, largest: float, seed: int, rows: int) -> list[Row]:
    trial = _Trial(place, largest, seed, rows)
    results: list[Row] = []
    for approach in APPROACHES if largest <= FEASIBLE else learning.UPDATES:
        for called, rate in trial.rates.items():
            odds = trial.odds(approach, rate)
            results.append({
                "data": trial.name, "largest": largest, "seed": seed, "approach": approach,
                "kept": called == "kept", "rate": rate,
                "log_loss": measures.log_loss(odds, trial.truth),
                "error": measures.error(odds, trial.truth),
                "calibration": measures.calibration_error(odds, trial.truth),
            })  # fmt: skip
    return results


def _reliability(place: str, largest: float, rows: int) -> list[Row]:
    trial = _Trial(place, largest, 0, rows)
    return [
        {"data": trial.name, "largest": largest, "approach": approach, "rate": rate, "kept": called == "kept",
         "share": share, "predicted": predicted, "came": came}
        for approach in learning.UPDATES
        for called, rate in trial.rates.items()
        for share, predicted, came in measures.reliability(trial.odds(approach, rate), trial.truth).tolist()
    ]  # fmt: skip
