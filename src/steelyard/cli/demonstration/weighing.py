"""What weights do, on the docstrings: one that counts fifty times, and all of them with ever larger weights.

Rates are plain here, the only ones with which a weight of h is h copies to the last digit; loss and
rate are the same for both updates, so that nothing but the way of the step differs.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard.cli.training import losses_of
from steelyard.examples import Examples
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.learner import Learner
from steelyard.model import Model, Settings

UPDATES = ("explicit", "invariant")
WEIGHT = 50
RATE = 0.1
SETTINGS = Settings(losses.by_name("logistic"), scaling="plain", learning_rate=RATE)
RATES = tuple(RATE / 4**k for k in range(7))
LARGEST = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
_WEIGHTS = tuple(float(weight) for weight in np.geomspace(1.0, 100.0, 25))
_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)


@dataclass(frozen=True)
class Quality:
    """On the docstrings held out."""

    accuracy: float
    log_loss: float


@dataclass(frozen=True)
class Step:
    """What one update makes of the one docstring."""

    curve: list[tuple[float, float]]
    """Prediction after one step of each weight."""
    copies: list[tuple[int, float]]
    """Prediction after so many copies, one step each."""
    at_once: float
    one_by_one: float
    quality: Quality
    """After the one step of weight `WEIGHT`."""


@dataclass(frozen=True)
class OneHeavy:
    """One docstring that was held out, learned with a weight."""

    label: float
    before: float
    quality: Quality
    steps: dict[str, Step]


@dataclass(frozen=True)
class AllHeavy:
    """Quality after learning all docstrings, by update and by the largest weight among them."""

    largest: tuple[int, ...]
    same_rate: dict[str, list[Quality]]
    """With the one rate, `RATE`."""
    best_rate: dict[str, list[Quality]]
    """With the best of several rates, chosen afterwards."""


def whole(path: Path, reading: InputSpec) -> Examples:
    """A file as one chunk."""
    stream = Stream([path], reading.reader(), loss=SETTINGS.loss, label_rule=reading.label_rule,
                    block_size=path.stat().st_size + 1)  # fmt: skip
    (parsed,) = stream
    return parsed.examples


def plain_model(learned: Examples) -> Model:
    """A model that has learned everything with weight 1."""
    learner = Learner(SETTINGS, learned.features)
    learner.learn(learned)
    return learner.model


def most_mistaken(model: Model, held_out: Examples) -> int:
    """The row whose prediction is the farthest on the wrong side."""
    return int(np.argmin(held_out.labels * Learner(model=model).predict(held_out)))


def one_heavy(model: Model, held_out: Examples, row: int) -> OneHeavy:
    """Learn that row with weights up to 100, and as often; each time from the model as it is."""
    one = held_out.take(np.array([row]))
    rest = held_out.take(np.delete(np.arange(len(held_out)), row))
    learner = Learner(model=model)
    return OneHeavy(
        label=float(one.labels[0]),
        before=float(learner.predict(one)[0]),
        quality=_quality(learner, rest),
        steps={update: _step(model, update, one, rest) for update in UPDATES},
    )


def _step(model: Model, update: str, one: Examples, rest: Examples) -> Step:
    def after(weight: float) -> Learner:
        learner = _copied(model, update)
        learner.learn(replace(one, sample_weight=np.array([weight])))
        return learner

    walker = _copied(model, update)
    walked = []
    for _ in range(max(_COUNTS)):
        walker.learn(one)
        walked.append(float(walker.predict(one)[0]))
    heavy = after(float(WEIGHT))
    return Step(
        curve=[(weight, float(after(weight).predict(one)[0])) for weight in _WEIGHTS],
        copies=[(count, walked[count - 1]) for count in _COUNTS],
        at_once=float(heavy.predict(one)[0]),
        one_by_one=walked[WEIGHT - 1],
        quality=_quality(heavy, rest),
    )


def _copied(model: Model, update: str) -> Learner:
    copied = copy.deepcopy(model)
    copied.settings = replace(model.settings, update=update)
    return Learner(model=copied)


def drawn(rows: int, largest: int, seed: int) -> NDArray[np.float64]:
    """Whole weights from 1 to the largest, each order of magnitude as likely, whatever the label is."""
    return np.rint(largest ** np.random.default_rng(seed).random(rows))


def all_heavy(learned: Examples, held_out: Examples, seed: int, largest: Sequence[int] = LARGEST) -> AllHeavy:
    """Learn all docstrings with random weights, once for each largest weight, update and rate."""

    def quality(update: str, most: int, rate: float) -> Quality:
        learner = Learner(replace(SETTINGS, update=update, learning_rate=rate), learned.features)
        learner.learn(replace(learned, sample_weight=drawn(len(learned), most, seed)))
        return _quality(learner, held_out)

    by_rate = {
        update: [[quality(update, most, rate) for rate in RATES] for most in largest] for update in UPDATES
    }
    return AllHeavy(
        tuple(largest),
        same_rate={update: [tried[0] for tried in rows] for update, rows in by_rate.items()},
        best_rate={
            update: [min(tried, key=lambda quality: quality.log_loss) for tried in rows]
            for update, rows in by_rate.items()
        },
    )


def _quality(learner: Learner, held_out: Examples) -> Quality:
    predictions = learner.predict(held_out)
    return Quality(
        accuracy=float(np.mean((predictions > 0.0) == (held_out.labels > 0.0))),
        log_loss=float(losses_of(learner.model, predictions, held_out.labels).mean()),
    )
