"""The steps of the study: all schedules, every loss and update, on shuffles of the four data sets."""

from paper import data, sweeping
from paper.study import Row, Scope, Step
from steelyard import OnlineClassifier

TABLE = "passive"
AS_IS, BIAS, UNIT = "as they are", "with a bias", "unit rows"
"""The variants: rows as they are and no bias, as in the paper's formulas; and what changes otherwise."""


def steps(scope: Scope) -> list[Step]:
    most = scope.choose(None, 20_000)
    return [
        _step(place, loss, shuffle, variant, most)
        for variant, shuffles in ((AS_IS, scope.choose(3, 1)), (BIAS, 1), (UNIT, 1))
        for place in data.PLACES
        for loss in sweeping.LOSSES
        for shuffle in range(shuffles)
    ]


def _step(place: str, loss: str, shuffle: int, variant: str, most: int | None) -> Step:
    def compute() -> list[Row]:
        classifier = OnlineClassifier(
            loss, scaling="row_norm", fit_intercept=variant == BIAS, passes=1, shuffle=False
        )
        grid = {"update": sweeping.UPDATES, **sweeping.SCHEDULES}
        rows = sweeping.run_sweep(place, shuffle, classifier, grid, most=most, unit=variant == UNIT)
        return [{**row, "variant": variant} for row in rows]

    key = f"{variant} {data.name(place)} {loss} {shuffle}"
    return Step(TABLE, key, sweeping.collect_inputs(place, rows=most, shuffle=shuffle), compute)
