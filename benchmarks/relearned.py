"""A small problem learned many times over, its true risk known: does `current` cover the model held now?

Questions are chosen with a model that learns every label, and lanes that leave some out are scored: so
whatever leaks from a label to the choice of later questions, and from there to its lane, is in the figures.
For comparison the choice may be `blind`, made with the true margin instead, which knows no label.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard.active.crossfit import CrossFit
from steelyard.active.draws import of_labels
from steelyard.active.estimates import Estimate, current
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings

FEATURES = 20
FLOOR = 0.05
LANES = 5
LOOKS = (150, 300, 600, 1000, 1500)
_FRESH = 20_000  # rows for the truth
_PIECE = 25


@dataclass(frozen=True)
class Look:
    """The lanes at one moment."""

    crossed: Estimate
    audit: Estimate
    own_labels: float
    """The model that learned every label, scored on those, each weighted by 1/P."""
    truth: float
    """The average risk of the lanes."""
    whole: float
    """The risk of the model that learned every label."""


def looks(seed: int, blind: bool = False) -> list[Look]:
    """One run: a stream, questions, and the estimates at every look."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=FEATURES)
    settings = Settings(losses.by_name("logistic"))
    matrix, labels = _draw(random, direction, LOOKS[-1])
    fresh, fresh_labels = _draw(random, direction, _FRESH)
    stream, test = examples(matrix, labels), examples(fresh, fresh_labels)
    whole, lanes = Learner(settings, FEATURES), CrossFit(settings, FEATURES, LANES)
    audit = random.random(len(labels)) < FLOOR
    probability, asked = np.ones(len(labels)), np.zeros(len(labels), bool)
    found: list[Look] = []
    for start in range(0, len(labels), _PIECE):
        numbers = np.arange(start, start + _PIECE)
        margin = matrix[numbers] @ direction if blind else whole.predict(stream.take(numbers))
        probability[numbers] = np.clip(np.exp(-np.abs(margin)), FLOOR, 1.0)
        asked[numbers] = random.random(_PIECE) < probability[numbers]
        learned = numbers[asked[numbers] & ~audit[numbers]]
        chunk = examples(matrix[learned], labels[learned], 1.0 / probability[learned])
        whole.learn(chunk)
        lanes.learn(chunk, learned)
        if start + _PIECE in LOOKS:
            seen = np.arange(start + _PIECE)
            ours, kept = seen[~audit[seen]], seen[audit[seen]]
            held, own = lanes.held_out(stream.take(ours), ours), whole.predict(stream.take(seen))
            crossed = of_labels(
                probability[ours], asked[ours], labels[ours] > 0.0, held > 0.0, 1.0 / (1.0 + np.exp(-held))
            )
            sure = np.ones(len(kept))
            audited = of_labels(sure, sure, labels[kept] > 0.0, own[kept] > 0.0)
            look, paid = len(found) + 1, ours[asked[ours]]
            wrong = (own > 0.0) != (labels[seen] > 0.0)
            found.append(
                Look(
                    current(crossed, np.zeros(len(ours)), look=look),
                    current(audited, np.zeros(len(kept)), look=look),
                    float(np.average(wrong[paid], weights=1.0 / probability[paid])),
                    _risk(lanes.fleet.predict(test), fresh_labels),
                    _risk(whole.predict(test)[:, np.newaxis], fresh_labels),
                )
            )
    return found


def _draw(
    random: np.random.Generator, direction: NDArray[np.float64], rows: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two classes that overlap."""
    matrix = random.normal(size=(rows, len(direction)))
    return matrix, np.where(matrix @ direction + random.logistic(size=rows) > 0.0, 1.0, -1.0)


def _risk(predictions: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    return float(((predictions > 0.0) != (labels > 0.0)[:, np.newaxis]).mean())
