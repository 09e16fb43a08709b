"""A small problem learned many times, with known true risk: does `current` cover the present model?

Questions are chosen with a model that learns every label, and lanes that leave some out are scored: so any
leak from a label to the choice of later questions, and from there to its lane, is in the figures. For
comparison the choice may be `blind`, made with the true margin, which depends on no label.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.active.crossfit import CrossFit
from benchmarks.support import sections
from steelyard import losses
from steelyard.active.estimates import Estimate, current
from steelyard.active.label_sample import from_labels
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
    """The lanes at one time."""

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
    settings = Settings(losses.by_name("logistic"), scaling="normalized")
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
            crossed = from_labels(
                probability[ours], asked[ours], labels[ours] > 0.0, held > 0.0, 1.0 / (1.0 + np.exp(-held))
            )
            sure = np.ones(len(kept))
            audited = from_labels(sure, sure, labels[kept] > 0.0, own[kept] > 0.0)
            look, paid = len(found) + 1, ours[asked[ours]]
            wrong = (own > 0.0) != (labels[seen] > 0.0)
            found.append(
                Look(
                    current(crossed, np.zeros(len(ours)), look=look),
                    current(audited, np.zeros(len(kept)), look=look),
                    float(np.average(wrong[paid], weights=1.0 / probability[paid])),
                    _risk(lanes.models.predict(test), fresh_labels),
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


TEXT = """
### Does `current` cover the present model?

A problem with {features} features, learned in {lanes} lanes, {models} times; questions by margin with a floor
of {floor:.0%}; {count} looks, numbered 1 to {count}. In percentage points, ± one standard error. The true
error was inside at all looks in {crossed:.1f} % of the runs cross-validated, in {audit:.1f} % with an audit.

{table}

Cross-validated estimates are a little too low where the model that chooses questions has learned the label
that is being scored (the leak described above), by about a thirtieth of the error. Where questions are chosen
blindly there is no leak, and the differences are within two standard errors. Compared with the width the leak
is small, but it exists. On its own labels, weighted by 1/P, the model looks far too good.
"""


def section(models: int) -> str:
    """The section of the page."""
    chosen, blind = ([looks(seed, way) for seed in range(models)] for way in (False, True))
    table = []
    for number, seen in enumerate(LOOKS):
        now, then = [run[number] for run in chosen], [run[number] for run in blind]
        table.append(
            [
                f"{seen:,}",
                f"{np.mean([each.crossed.asked for each in now]):.0f}",
                f"{100.0 * np.mean([each.truth for each in now]):.1f}",
                _off([each.crossed.value - each.truth for each in now]),
                _off([each.crossed.value - each.truth for each in then]),
                _off([each.own_labels - each.whole for each in now]),
                f"{100.0 * np.mean([each.crossed.width for each in now]):.0f}",
                f"{100.0 * np.mean([each.audit.width for each in now]):.0f}",
            ]
        )
    heads = [
        "rows", "labels", "true error of the lanes", "cross-validated, off by", "chosen blindly, off by",
        "own labels, off by", "width, cross-validated", "width, audit",
    ]  # fmt: skip
    crossed = [all(each.crossed.low <= each.truth <= each.crossed.high for each in run) for run in chosen]
    audited = [all(each.audit.low <= each.whole <= each.audit.high for each in run) for run in chosen]
    return TEXT.format(
        features=FEATURES, lanes=LANES, models=models, floor=FLOOR, count=len(LOOKS),
        crossed=100.0 * np.mean(crossed), audit=100.0 * np.mean(audited), table=sections.table(heads, table),
    ).strip()  # fmt: skip


def _off(values: list[float]) -> str:
    return f"{100.0 * np.mean(values):+.1f} ± {100.0 * np.std(values) / np.sqrt(len(values)):.1f}"
