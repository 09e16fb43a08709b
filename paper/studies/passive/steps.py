"""The steps of the study: all schedules, every loss and update, on shuffles of the four data sets."""

from paper import data, sweeping
from paper.feature_values import AS_PAPER, OTHER, has_other
from paper.study import Row, Scope, Step
from steelyard import OnlineClassifier

TABLE = "passive"
BIAS, LINK = "with a bias", "with the link"
"""Besides features as in the paper and no bias, like its formulas: a bias; squared loss under the [0, 1] link
of the active experiments, which is `modified_huber`; and the other features."""


def steps(scope: Scope) -> list[Step]:
    most = scope.choose(None, 20_000)
    return [
        _step(place, loss, shuffle, variant, most)
        for variant, shuffles in ((AS_PAPER, scope.choose(3, 1)), (BIAS, 1), (LINK, 1), (OTHER, 1))
        for place in data.PLACES
        if variant != OTHER or has_other(place)
        for loss in (("squared",) if variant == LINK else sweeping.LOSSES)
        for shuffle in range(shuffles)
    ]


def _step(place: str, loss: str, shuffle: int, variant: str, most: int | None) -> Step:
    def compute() -> list[Row]:
        classifier = OnlineClassifier(
            "modified_huber" if variant == LINK else loss,
            scaling="row_norm",
            fit_intercept=variant == BIAS,
            passes=1,
            shuffle=False,
        )
        grid = {"update": sweeping.UPDATES, **sweeping.SCHEDULES}
        features = OTHER if variant == OTHER else AS_PAPER
        rows = sweeping.run_sweep(
            place, shuffle, classifier, grid, most=most, features=features, paired=variant != BIAS
        )
        return [{**row, "loss": loss, "place": place, "variant": variant} for row in rows]

    key = f"{variant} {data.name(place)} {loss} {shuffle}"
    return Step(TABLE, key, sweeping.collect_inputs(place, rows=most, shuffle=shuffle), compute)
