"""What one weighted step does to one row, beside as many copies of it; with plain rates and logistic loss.

Nothing but the step differs between the updates.
"""

import copy
from dataclasses import dataclass, replace

import numpy as np

from steelyard import losses
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.model import Model, Settings

UPDATES = ("explicit", "invariant")
WEIGHT = 50
RATE = 0.1
COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
_STEPS = tuple(float(weight) for weight in np.geomspace(1.0, 100.0, 25))
_SETTINGS = Settings(losses.by_name("logistic"), scaling="plain", learning_rate=RATE)


@dataclass(frozen=True)
class WeightedStep:
    """What one update makes of one row."""

    curve: list[tuple[float, float]]
    """Weight, and prediction after one step of that weight."""
    copies: list[tuple[int, float]]
    """Number of copies, and prediction after learning them one by one."""
    at_once: float
    one_by_one: float


@dataclass(frozen=True)
class HeavyRow:
    """A row of the test file, learned with a weight, by update."""

    row: int
    before: float
    steps: dict[str, WeightedStep]


def weigh_one(train: Examples, test: Examples) -> HeavyRow:
    """Learn the test row that a model of the others is most mistaken about, with weights and as copies."""
    learner = Learner(_SETTINGS, train.features)
    learner.learn(train)
    predictions = learner.predict(test)
    row = int(np.argmin(test.labels * predictions))
    one = test.take(np.array([row]))
    steps = {update: _take_steps(learner.model, update, one) for update in UPDATES}
    return HeavyRow(row, float(predictions[row]), steps)


def _take_steps(model: Model, update: str, one: Examples) -> WeightedStep:
    def start() -> Learner:
        copied = copy.deepcopy(model)
        copied.settings = replace(model.settings, update=update)
        return Learner(model=copied)

    def after(weight: float) -> float:
        learner = start()
        learner.learn(replace(one, sample_weight=np.array([weight])))
        return float(learner.predict(one)[0])

    walker, walked = start(), []
    for _ in range(max(COUNTS)):
        walker.learn(one)
        walked.append(float(walker.predict(one)[0]))
    return WeightedStep(
        curve=[(weight, after(weight)) for weight in _STEPS],
        copies=[(count, walked[count - 1]) for count in COUNTS],
        at_once=after(float(WEIGHT)),
        one_by_one=walked[WEIGHT - 1],
    )
