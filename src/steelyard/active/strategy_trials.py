"""Trials on labelled rows: every strategy gets the labels it asks for, and what it learned is tested.

The learner refits over several orders, as `ActiveClassifier` does (`refit`), or learns every answer once as
it comes (`once`): the paper's way, in which answers have the weight 1/P.
"""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from steelyard.active import class_models, counter_rng, strategies
from steelyard.active.evaluation import Evaluation
from steelyard.active.identifiers import ReadPlace
from steelyard.active.labelled_rows import DEFAULT_SETTINGS, LabelledRows, RefitPlan
from steelyard.active.learner import ActiveLearner
from steelyard.active.stored_rows import sparse_row
from steelyard.active.strategies._base import BudgetPlan
from steelyard.examples import Examples
from steelyard.model import Model
from steelyard.scoring import probabilities

ALL = "all labels"
LEARNERS = {"refit": RefitPlan(), "once": RefitPlan("importance", orders=0)}
LOSS = DEFAULT_SETTINGS.loss

_SHUFFLE = 1 << 41  # the purpose of these random numbers
_Z = 1.96  # for 95 %

Tick = Callable[[], None]
"""Called after every trial."""


@dataclass(frozen=True)
class Outcome:
    """The model after some labels, and its evaluation by these labels where that is possible."""

    rows: list[int]
    """The rows whose labels were asked for, in this order."""
    models: list[Model] | None
    """One, or one for each of several classes; None if it diverged."""
    evaluation: Evaluation | None = None


@dataclass(frozen=True)
class TrialPlan:
    """The trials on labelled rows: each strategy with each update and each fraction of the labels."""

    strategies: Sequence[str]
    updates: Sequence[str]
    fractions: Sequence[float]
    seeds: int
    holdout: int
    classes: int = 2

    def split(self, rows: Examples, seed: int) -> tuple[Examples, Examples]:
        """The rows shuffled: those to learn from, and one in `holdout` to test on."""
        order = counter_rng.order(seed, _SHUFFLE, len(rows))
        kept = len(order) // self.holdout
        return rows.take(order[kept:]), rows.take(order[:kept])

    def budgets(self, rows: int) -> list[int]:
        for fraction in self.fractions:
            if not 0.0 < fraction <= 1.0:
                raise ValueError(f"the fraction {fraction:g} must be above 0 and at most 1")
            if round(fraction * rows) < 1:
                raise ValueError(
                    f"the fraction {fraction:g} of {rows:,} rows to learn from is less than one label"
                )
        return [round(fraction * rows) for fraction in sorted(self.fractions)]

    def count(self) -> int:
        """How often `run_trials` ticks."""
        return self.seeds * len(self.updates) * (1 + len(self.strategies) * len(self.fractions))


def outcomes(
    strategy: str, update: str, training: RefitPlan, rows: Examples, budgets: Sequence[int], classes: int = 2
) -> Iterator[Outcome]:
    """One for each of the budgets, in increasing order; a label is read only where it is asked for.

    A strategy that ranks the rows goes on from budget to budget; others spread each budget over all rows.
    """
    asking, settings = strategies.by_name(strategy), replace(DEFAULT_SETTINGS, update=update)

    def begin(budget: int) -> ActiveLearner:
        plan = BudgetPlan(budget=budget, expected=len(rows))
        pool = rows, np.arange(len(rows))
        return ActiveLearner(
            settings, rows.features, plan, training, strategy=asking, classes=classes, pool=pool
        )

    for number, budget in enumerate(budgets):
        if number == 0 or not asking.ranks_pool:
            learner, asked, diverged = begin(budgets[-1] if asking.ranks_pool else budget), list[int](), False
        models = None
        try:
            while not diverged and len(asked) < budget and (query := learner.ask_from_pool()) is not None:
                asked.append(query.row)
                learner.answer([query.id], [float(rows.labels[query.row])])
            if not diverged:
                models = copy.deepcopy(learner.models)  # they may continue to learn
        except FloatingPointError:
            diverged = True
        own = Evaluation(learner) if learner.strategy.randomized and not diverged else None
        yield Outcome(asked.copy(), models, own)


def error(models: Sequence[Model] | None, rows: Examples) -> float:
    """The share of rows that are classified wrongly; all of them if the model diverged."""
    if models is None:
        return 1.0
    codes = np.array(class_models.codes(LOSS, max(len(models), 2)))
    found = codes[probabilities.decide(LOSS, class_models.predict(models, rows))]
    return float(np.mean(found != rows.labels))


def learn_all(update: str, training: RefitPlan, rows: Examples, classes: int = 2) -> Outcome:
    labelled = LabelledRows(replace(DEFAULT_SETTINGS, update=update), rows.features, training, classes)
    for row in range(len(rows)):
        labelled.rows.add(*sparse_row(rows, row))
        labelled.answer(ReadPlace(row), float(rows.labels[row]), 1.0)
    try:
        return Outcome(list(range(len(rows))), labelled.final)
    except FloatingPointError:
        return Outcome(list(range(len(rows))), None)


def run_trials(rows: Examples, plan: TrialPlan, learner: str, tick: Tick) -> dict[str, Any]:
    """The results over all shuffles for each fraction, strategy and update; last, with all labels."""
    found: dict[tuple[float, str, str], list[dict[str, Any]]] = {}
    fractions = sorted(plan.fractions)
    for seed in range(plan.seeds):
        learned, tested = plan.split(rows, seed)
        budgets = plan.budgets(len(learned))
        training = replace(LEARNERS[learner], seed=seed)
        for strategy, update in product(plan.strategies, plan.updates):
            results = outcomes(strategy, update, training, learned, budgets, plan.classes)
            for fraction, outcome in zip(fractions, results, strict=True):
                found.setdefault((fraction, strategy, update), []).append(_test(outcome, tested))
                tick()
        for update in plan.updates:
            whole = learn_all(update, training, learned, plan.classes)
            found.setdefault((1.0, ALL, update), []).append(_test(whole, tested))
            tick()
    return {
        "results": [summarise(*key, found[key], len(tested)) for key in sorted(found, key=lambda k: k[0])]
    }


def _test(outcome: Outcome, tested: Examples) -> dict[str, Any]:
    """The cost, the test error, and the learner's own estimate of it, if there is one."""
    estimate = None
    if outcome.evaluation is not None and not math.isnan((own := outcome.evaluation.estimate()).value):
        estimate = {"value": own.value, "low": own.low, "high": own.high}
    return {
        "labels": len(outcome.rows),
        "error": error(outcome.models, tested),
        "estimate": estimate,
        "diverged": outcome.models is None,
    }


def summarise(
    fraction: float, strategy: str, update: str, trials: list[dict[str, Any]], kept: int
) -> dict[str, Any]:
    """One entry of the results: means over the shuffles, with intervals."""
    errors = np.array([trial["error"] for trial in trials])
    own = [trial["estimate"] for trial in trials if trial["estimate"] is not None]
    mean = float(errors.mean())
    off = half_width(errors, kept)
    entry: dict[str, Any] = {
        "fraction": fraction,
        "strategy": strategy,
        "update": update,
        "labels": float(np.mean([trial["labels"] for trial in trials])),
        "error": mean,
        "low": max(mean - off, 0.0),
        "high": min(mean + off, 1.0),
        "estimate": None,
        "inside": None,
        "trials": trials,
    }
    if len(own) == len(trials):
        entry["estimate"] = {
            name: float(np.mean([each[name] for each in own])) for name in ("value", "low", "high")
        }
        entry["inside"] = sum(
            each["low"] <= error <= each["high"] for each, error in zip(own, errors.tolist(), strict=True)
        )
    return entry


def half_width(errors: np.ndarray[Any, Any], kept: int) -> float:
    """Half the width of a 95 % interval of the error: shuffles vary, and few rows are held out."""
    from scipy.special import stdtrit  # not at the top: it takes a while to import

    shuffles = len(errors)
    # No errors does not mean no doubt: add two rows of each kind, after Agresti and Coull
    mean = (float(errors.mean()) * kept + 2.0) / (kept + 4.0)
    held_out = _Z**2 * mean * (1.0 - mean) / (kept + 4.0)
    between = 0.0
    if shuffles > 1:
        between = float(stdtrit(shuffles - 1, 0.975)) ** 2 * float(errors.var(ddof=1)) / shuffles
    return math.sqrt(held_out + between)
