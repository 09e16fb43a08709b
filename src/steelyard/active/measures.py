"""Error, loss, precision and recall, made of sums of scores and their bounds.

A measure names its sums: which rows, and what is summed of them. Two kinds of truth:

- *risk*: the predictions themselves, on rows like these. Sums run over all rows.
- *pool*: the finite pool as it would be handed over now: answers where there are answers, predictions
  elsewhere. Only rows without an answer can be wrong, and only they are uncertain. Rows that were not
  reached yet may be anything.

Precision of predictions is an average over the rows predicted 1, and these are known. Recall is a ratio of
two unknown sums, found and overlooked: it takes two sequences, which share the risk of being wrong. Where
predictions are known of answered rows only, precision is such a ratio too: found, and taken wrongly.
"""

from typing import NamedTuple

import numpy as np

from steelyard.active.confidence import Flags, Standing
from steelyard.active.label_sample import Draws
from steelyard.active.wealth import Array

MEASURES = ("error", "loss", "precision", "recall")


class Part(NamedTuple):
    """Some of the rows, the score that is summed over them, and a guess of it."""

    taken: Flags
    score: Array
    guess: Array | None


class Interval(NamedTuple):
    value: Array
    low: Array
    high: Array


def parts(measure: str, draws: Draws) -> list[Part]:
    """The sums of a measure: of losses one; of labels those predicted 1 and those predicted 0."""
    if measure in ("error", "loss"):
        return [Part(np.ones(len(draws), bool), draws.loss, draws.guess)]
    if draws.label is None:
        raise ValueError(
            f"{measure} needs labels of two classes: make the draws with `of_labels`, not with `of_losses`"
        )
    predicted = np.zeros(len(draws), bool) if draws.predicted is None else draws.predicted
    if not draws.everywhere:
        amiss = ~predicted * draws.label if measure == "recall" else predicted * (1.0 - draws.label)
        return [Part(np.ones(len(draws), bool), score, None) for score in (predicted * draws.label, amiss)]
    return [Part(taken, draws.label, draws.chance) for taken in (predicted, ~predicted)]


def unknowns(measure: str, draws: Draws) -> int:
    """How many sums must be bounded at once."""
    if measure == "precision":
        return 1 if draws.everywhere else 2
    return 2 if measure == "recall" and draws.predicted is not None else 1


def risk(measure: str, sums: list[Standing], unknown: int) -> Interval:
    """Of the predictions: an average of all rows, or of those predicted 1; or a ratio of unknown sums."""
    if measure == "recall" or unknown == 2:
        found, amiss = sums
        return _ratio(found, amiss)
    of = sums[0]
    return Interval(*(_share(each, of.rows, empty) for each, empty in zip(of[:3], _UNKNOWN, strict=True)))


def pool(measure: str, sums: list[Standing], unseen: Array) -> Interval:
    """Of the pool as it would be handed over, with rows that were not reached yet at their worst."""
    if measure in ("error", "loss"):
        (left,) = sums
        size = left.rows + unseen
        return Interval(
            _share(left.value, left.rows, np.nan),
            _share(left.low, size, 0.0),
            _share(left.high + unseen, size, 1.0),
        )
    predicted, others = sums
    answered = predicted.known + others.known
    found = predicted._replace(
        value=answered + predicted.value, low=answered + predicted.low, high=answered + predicted.high
    )
    if measure == "precision":
        handed = answered + predicted.rows - predicted.asked + predicted.skipped
        return Interval(
            *(_share(each, handed, empty) for each, empty in zip(found[:3], _UNKNOWN, strict=True))
        )
    return _ratio(found, others._replace(high=others.high + unseen))


_UNKNOWN = (np.nan, 0.0, 1.0)


def _ratio(found: Standing, amiss: Standing) -> Interval:
    """It grows with what was found and falls with what was overlooked, or taken wrongly."""
    return Interval(
        _share(found.value, found.value + amiss.value, np.nan),
        _share(found.low, found.low + amiss.high, 0.0),
        _share(found.high, found.high + amiss.low, 1.0),
    )


def _share(part: Array, whole: Array, empty: float) -> Array:
    """The ratio, or what is to be said where there is nothing."""
    some = np.asarray(whole) > 0.0
    return np.where(some, part / np.where(some, whole, 1.0), empty)
