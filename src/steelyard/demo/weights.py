"""What weights do: one docstring that counts fifty times, and all docstrings with weights.

Rates are plain, the only ones with which a weight of h is h copies to the last digit; loss and rate are the
same for both updates, so that nothing but the step differs.
"""

import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.model import Model, Settings

UPDATES = ("explicit", "invariant")
WEIGHT = 50
RATE = 0.1
RATES = tuple(RATE / 4**k for k in range(7))
LARGEST = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
_STEPS = tuple(float(weight) for weight in np.geomspace(1.0, 100.0, 25))
_SETTINGS = Settings(losses.by_name("logistic"), scaling="plain", learning_rate=RATE)


@dataclass(frozen=True)
class Quality:
    """Figures on the docstrings held out."""

    accuracy: float
    log_loss: float


@dataclass(frozen=True)
class WeightedStep:
    """What one update makes of one docstring."""

    curve: list[tuple[float, float]]
    """Weight, and prediction after one step of that weight."""
    copies: list[tuple[int, float]]
    """Number of copies, and prediction after learning them one by one."""
    at_once: float
    one_by_one: float
    quality: Quality
    """After the one step of weight `WEIGHT`."""


@dataclass(frozen=True)
class HeavyRow:
    """One held-out docstring, learned with a weight, by update."""

    label: float
    before: float
    quality: Quality
    steps: dict[str, WeightedStep]


@dataclass(frozen=True)
class HeavyRows:
    """Quality after learning all docstrings with weights, by update; for each of `LARGEST`."""

    same_rate: dict[str, list[Quality]]
    """With the rate `RATE`."""
    best_rate: dict[str, list[Quality]]
    """With the best of `RATES`, chosen afterwards."""


def train_plain(train: Examples) -> Model:
    """A model with plain rates that has learned everything with weight 1."""
    learner = Learner(_SETTINGS, train.features)
    learner.learn(train)
    return learner.model


def find_worst(model: Model, held_out: Examples) -> int:
    """The row whose prediction is farthest on the wrong side."""
    return int(np.argmin(held_out.labels * Learner(model=model).predict(held_out)))


def weigh_one(model: Model, held_out: Examples, row: int) -> HeavyRow:
    """Learn that row with weights up to 100, and as often; each time from the model as it is."""
    one = held_out.take(np.array([row]))
    rest = held_out.take(np.delete(np.arange(len(held_out)), row))
    learner = Learner(model=model)
    return HeavyRow(
        label=float(one.labels[0]),
        before=float(learner.predict(one)[0]),
        quality=_measure(learner, rest),
        steps={update: _take_steps(model, update, one, rest) for update in UPDATES},
    )


def _take_steps(model: Model, update: str, one: Examples, rest: Examples) -> WeightedStep:
    def start() -> Learner:
        copied = copy.deepcopy(model)
        copied.settings = replace(model.settings, update=update)
        return Learner(model=copied)

    def learn_with(weight: float) -> Learner:
        learner = start()
        learner.learn(replace(one, sample_weight=np.array([weight])))
        return learner

    walker, walked = start(), []
    for _ in range(max(COUNTS)):
        walker.learn(one)
        walked.append(float(walker.predict(one)[0]))
    heavy = learn_with(float(WEIGHT))
    return WeightedStep(
        curve=[(weight, float(learn_with(weight).predict(one)[0])) for weight in _STEPS],
        copies=[(count, walked[count - 1]) for count in COUNTS],
        at_once=float(heavy.predict(one)[0]),
        one_by_one=walked[WEIGHT - 1],
        quality=_measure(heavy, rest),
    )


def draw_weights(rows: int, largest: int, seed: int) -> NDArray[np.float64]:
    """Whole weights from 1 to the largest, each order of magnitude as likely, whatever the label is."""
    return np.rint(largest ** np.random.default_rng(seed).random(rows))


def weigh_all(train: Examples, held_out: Examples, seed: int) -> HeavyRows:
    """Learn all docstrings with random weights, once for each largest weight, update and rate."""

    def learn(update: str, most: int, rate: float) -> Quality:
        learner = Learner(replace(_SETTINGS, update=update, learning_rate=rate), train.features)
        learner.learn(replace(train, sample_weight=draw_weights(len(train), most, seed)))
        return _measure(learner, held_out)

    tried = {
        update: [[learn(update, most, rate) for rate in RATES] for most in LARGEST] for update in UPDATES
    }
    return HeavyRows(
        same_rate={update: [qualities[0] for qualities in rows] for update, rows in tried.items()},
        best_rate={
            update: [min(qualities, key=lambda quality: quality.log_loss) for qualities in rows]
            for update, rows in tried.items()
        },
    )


def _measure(learner: Learner, held_out: Examples) -> Quality:
    predictions, labels = learner.predict(held_out), held_out.labels
    return Quality(
        accuracy=float(np.mean((predictions > 0.0) == (labels > 0.0))),
        log_loss=float(np.logaddexp(0.0, -labels * predictions).mean()),
    )
