"""The steps on adaptive rates: one factor, from tiny to huge."""

from paper import data, sweeping
from paper.study import Row, Scope, Step
from paper.sweeping import LOSSES, UPDATES
from steelyard import OnlineClassifier

TABLE = "adaptive_rates"
SCALINGS = ("adaptive", "normalized")
RATES = [2.0**k for k in range(-10, 11)]
POWERS = [0.0, 0.5]


def steps(scope: Scope) -> list[Step]:
    most = scope.choose(None, 20_000)
    return [
        _step(place, loss, shuffle, most)
        for place in data.PLACES
        for loss in LOSSES
        for shuffle in range(scope.choose(3, 1))
    ]


def _step(place: str, loss: str, shuffle: int, most: int | None) -> Step:
    def compute() -> list[Row]:
        grid = {"update": UPDATES, "power_t": POWERS, "learning_rate": RATES}
        return [
            {**row, "scaling": scaling}
            for scaling in SCALINGS
            for row in sweeping.run_sweep(
                place,
                shuffle,
                OnlineClassifier(loss, scaling=scaling, fit_intercept=False, passes=1, shuffle=False),
                grid,
                most=most,
            )
        ]

    key = f"{data.name(place)} {loss} {shuffle}"
    return Step(TABLE, key, sweeping.collect_inputs(place, rows=most, shuffle=shuffle), compute)
