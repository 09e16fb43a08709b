"""Ways to choose labels, each handed to the same learner: what IWAL has to be measured against.

- `invariant`, `implicit`, `multiplication` (the explicit update): importance-weighted active learning,
  steered by a budget. With `refit`, `implicit` is what `ActiveClassifier` does as it comes.
- `margin`: the whole pool is scored for every tenth more of labels, and those bought of which the model is
  least sure. No estimate can be made of such labels.
- `random`: labels of the first rows, which come shuffled.

The learner refits over several orders, or learns every answer once as it comes (`once`): the paper's way, in
which IWAL's answers weigh 1/P.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steelyard.active.appraisal import Appraisal
from steelyard.active.engine import Engine
from steelyard.active.estimates import Estimate
from steelyard.active.labelled import USUAL, Labelled, Training
from steelyard.active.replay import replay
from steelyard.active.steering import Plan
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.losses import two_classes
from steelyard.model import Model, Settings

UPDATES = {"invariant": "invariant", "implicit": "implicit", "multiplication": "explicit"}
POLICIES = (*UPDATES, "margin", "random")
LEARNERS = ("refit", "once")
LOSS = USUAL.loss
_FIRST = 10  # labels that margin sampling buys before it can choose


@dataclass(frozen=True)
class Outcome:
    """After so many labels: the model, and what its labels say of it where they can say anything."""

    labels: int
    model: Model | None
    """None if it has diverged."""
    estimate: Estimate | None = None


def outcomes(policy: str, learner: str, rows: Examples, budgets: list[int], seed: int) -> Iterator[Outcome]:
    """One for each of the budgets, which grow; labels are those of the rows, read where they are bought."""
    if policy in UPDATES:
        return (_asked(policy, learner, rows, budget, seed) for budget in budgets)
    return _bought(policy, learner, rows, budgets, seed)


def error(model: Model | None, rows: Examples) -> float:
    """The share of rows that it takes for the other class; all of them if it has diverged."""
    if model is None:
        return 1.0
    boundary = two_classes.boundary(LOSS)
    return float(np.mean((Learner(model=model).predict(rows) > boundary) != (rows.labels > boundary)))


def _asked(policy: str, learner: str, rows: Examples, budget: int, seed: int) -> Outcome:
    settings = Settings(LOSS, UPDATES[policy], follow_labels=False)
    training = Training(seed=seed) if learner == "refit" else Training("importance", orders=0, seed=seed)
    engine = Engine(settings, rows.features, Plan(budget=budget, expected=len(rows)), training)
    try:
        replay(engine, rows, lambda row: float(rows.labels[row]))
    except FloatingPointError:
        return Outcome(engine.answered, None)
    return Outcome(engine.answered, engine.model, Appraisal(engine).estimate())


def _bought(policy: str, learner: str, rows: Examples, budgets: list[int], seed: int) -> Iterator[Outcome]:
    training = Training(orders=Training.orders if learner == "refit" else 0, seed=seed)
    labelled = Labelled(USUAL, rows.features, training)
    bought = np.zeros(len(rows), bool)
    for budget in budgets:
        while (count := len(labelled)) < budget:
            if policy == "random":
                chosen = np.arange(count, budget)
            elif count < _FIRST:
                chosen = np.arange(count, min(_FIRST, budget))
            else:
                distance = np.abs(Learner(model=labelled.final).predict(rows) - two_classes.boundary(LOSS))
                distance[bought] = np.inf
                chosen = np.argsort(distance, kind="stable")[: min(max(count // 10, 1), budget - count)]
            bought[chosen] = True
            for row in chosen.tolist():
                part = slice(rows.indptr[row], rows.indptr[row + 1])
                labelled.rows.add(rows.indices[part].astype(np.int32), rows.values[part].astype(np.float64))
                labelled.answer(len(labelled), float(rows.labels[row]), 1.0)
        yield Outcome(len(labelled), copy.deepcopy(labelled.final))  # it may go on learning
