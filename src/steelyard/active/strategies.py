"""Ways to choose labels, each handed to the same learner: what IWAL has to be measured against.

- `invariant`, `implicit`, `multiplication` (the explicit update): importance-weighted active learning,
  steered by a budget. With `refit`, `implicit` is what `ActiveClassifier` does as it comes.
- `margin`: the whole pool is scored for every tenth more of labels, and those bought of which the model is
  least sure. No estimate can be made of such labels.
- `random`: labels of the first rows, which come shuffled.

The learner refits over several orders, or learns every answer once as it comes (`once`): the paper's way, in
which IWAL's answers weigh 1/P. Labels that were not left to chance have P = 1.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from steelyard.active.budget import Plan
from steelyard.active.engine import Engine
from steelyard.active.evaluation import Appraisal
from steelyard.active.labelled import USUAL, Labelled, Training
from steelyard.active.replay import replay
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.losses import decision_point
from steelyard.model import Model

UPDATES = {"invariant": "invariant", "implicit": "implicit", "multiplication": "explicit"}
POLICIES = (*UPDATES, "margin", "random")
LEARNERS = {"refit": Training(), "once": Training("importance", orders=0)}
LOSS = USUAL.loss
_FIRST = 10  # labels that margin sampling buys before it can choose


@dataclass(frozen=True)
class Outcome:
    """After some labels: the model, and what they say of it where they can say anything."""

    rows: list[int]
    """Whose labels were bought, in this order."""
    model: Model | None
    """None if it has diverged."""
    appraisal: Appraisal | None = None


def outcomes(policy: str, training: Training, rows: Examples, budgets: list[int]) -> Iterator[Outcome]:
    """One for each of the budgets, which grow; labels are those of the rows, read where they are bought."""
    if policy in UPDATES:
        return (_asked(policy, training, rows, budget) for budget in budgets)
    return _bought(policy, training, rows, budgets)


def error(model: Model | None, rows: Examples) -> float:
    """The share of rows that it takes for the other class; all of them if it has diverged."""
    if model is None:
        return 1.0
    boundary = decision_point(LOSS)
    return float(np.mean((Learner(model=model).predict(rows) > boundary) != (rows.labels > boundary)))


def _asked(policy: str, training: Training, rows: Examples, budget: int) -> Outcome:
    settings = replace(USUAL, update=UPDATES[policy])
    engine = Engine(settings, rows.features, Plan(budget=budget, expected=len(rows)), training)
    bought: list[int] = []

    def label(row: int) -> float:
        bought.append(row)
        return float(rows.labels[row])

    try:
        replay(engine, rows, label)
    except FloatingPointError:
        return Outcome(bought, None)
    return Outcome(bought, engine.model, Appraisal(engine))


def _bought(policy: str, training: Training, rows: Examples, budgets: list[int]) -> Iterator[Outcome]:
    labelled = Labelled(USUAL, rows.features, training)
    bought: list[int] = []
    for budget in budgets:
        while (count := len(bought)) < budget:
            if policy == "random":
                chosen = np.arange(count, budget)
            elif count < _FIRST:
                chosen = np.arange(count, min(_FIRST, budget))
            else:
                distance = np.abs(Learner(model=labelled.final).predict(rows) - decision_point(LOSS))
                distance[bought] = np.inf
                chosen = np.argsort(distance, kind="stable")[: min(max(count // 10, 1), budget - count)]
            for row in chosen.tolist():
                part = slice(rows.indptr[row], rows.indptr[row + 1])
                labelled.rows.add(rows.indices[part].astype(np.int32), rows.values[part].astype(np.float64))
                labelled.answer(len(bought), float(rows.labels[row]), 1.0)
                bought.append(row)
        yield Outcome(bought.copy(), copy.deepcopy(labelled.final))  # it may go on learning
