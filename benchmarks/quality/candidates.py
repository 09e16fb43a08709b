"""Which default would have been chosen without looking at a set, and what would that have cost there?

Each candidate learns every set; for each set, the choice is the candidate with the best mean accuracy on all
others. Part of `benchmarks.quality.defaults`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import sections
from benchmarks.support.labelled import Problem
from steelyard import Learner, Settings, losses
from steelyard.examples import examples
from steelyard.settings import DEFAULT_AVERAGE

LOSS = losses.by_name("modified_huber")
FACTORS = (0.75, 1.0, 1.5)
FORMER_FACTORS = (1.0, 1.5, 2.0)
AVERAGES = (0, 4, 8)

# For each set: the accuracy and the F1 of each candidate, in per cent, one row a candidate
Found = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Candidate:
    """Settings that might be the default; `factor` multiplies the default learning rate of the loss."""

    scaling: str
    factor: float = 1.0
    average: int = 0
    classes: bool = True  # whether steps are longer where a class is rare

    @property
    def name(self) -> str:
        if self.scaling == "normalized":
            return "normalized"
        equal = "" if self.classes else ", whatever the classes"
        return f"standardized, rate × {self.factor:g}, average {self.average}{equal}"

    def settings(self) -> Settings:
        rate = self.factor * LOSS.default_learning_rate
        return Settings(
            LOSS,
            scaling=self.scaling,
            learning_rate=rate,
            average=self.average,
            follow_classes=self.classes,
        )


CANDIDATES = (
    Candidate("normalized"),
    *(Candidate("standardized", factor, DEFAULT_AVERAGE, False) for factor in FORMER_FACTORS),
    *(Candidate("standardized", factor, average) for factor in FACTORS for average in AVERAGES),
)
DEFAULT = Candidate("standardized", 1.0, DEFAULT_AVERAGE)


def measure(problem: Problem, seeds: int) -> NDArray[np.float64]:
    found = np.zeros((len(CANDIDATES), 2))
    for seed in range(seeds):
        for place, candidate in enumerate(CANDIDATES):
            found[place] += 100.0 / seeds * np.array(learned(problem, seed, candidate.settings()))
    return found


def learned(problem: Problem, seed: int, settings: Settings, one_unit: bool = False) -> tuple[float, float]:
    """Accuracy and F1 after one pass; `one_unit`: all features have the same, as words of a file do."""
    train, test = problem.split(seed)
    learner = Learner(settings, problem.matrix.shape[1])
    if one_unit:
        learner.model.fix_units(np.empty(0, np.int64))
    learner.learn(examples(problem.matrix[train], problem.labels[train]))
    return scores(problem, test, learner.predict(examples(problem.matrix[test])))


def scores(problem: Problem, test: NDArray[np.intp], predictions: NDArray[Any]) -> tuple[float, float]:
    """Accuracy, and F1 of the class that is rarer in the whole set."""
    rarer = 1.0 if np.mean(problem.labels > 0.0) < 0.5 else -1.0
    truth, said = problem.labels[test] * rarer > 0.0, predictions * rarer > 0.0
    right = float(np.sum(truth & said))
    wrong = float(np.sum(truth != said))
    return 1.0 - wrong / len(test), 2.0 * right / (2.0 * right + wrong) if right else 0.0


def text(found: Found) -> str:
    """Two tables and what they say; nothing where there is but one set."""
    if len(found) < 2:
        return ""
    names, figures = list(found), np.array(list(found.values()))
    accuracy = figures[:, :, 0]
    others = (accuracy.sum(axis=0) - accuracy) / (len(names) - 1)
    chosen = others.argmax(axis=1)
    usual = accuracy[:, CANDIDATES.index(DEFAULT)]
    costs = usual - accuracy[np.arange(len(names)), chosen]
    behind = accuracy.max(axis=1, keepdims=True) - accuracy
    candidates = [
        [
            f"**{each.name}**" if each == DEFAULT else each.name,
            f"{accuracy[:, c].mean():.2f}",
            f"{figures[:, c, 1].mean():.2f}",
            f"{behind[:, c].max():.2f} ({names[behind[:, c].argmax()]})",
            str(np.count_nonzero(chosen == c)),
        ]
        for c, each in enumerate(CANDIDATES)
    ]
    heads = ["candidate", "mean accuracy", "mean F1", "farthest behind the best candidate", "times chosen"]
    rows = [
        [
            name,
            CANDIDATES[chosen[s]].name,
            f"{accuracy[s, chosen[s]]:.2f}",
            f"{usual[s]:.2f}",
            f"{costs[s]:+.2f}",
        ]
        for s, name in enumerate(names)
    ]
    return TEXT.format(
        candidates=sections.table(heads, candidates),
        sets=sections.table(["data set", "chosen without it", "accuracy", "our default", "cost"], rows),
        mean=f"{costs.mean():.2f}",
        worst=f"{costs.max():.2f}",
        where=names[int(costs.argmax())],
    )


TEXT = """
## Chosen without looking at the set

The default was chosen among others by looking at these sets. How much of its lead is due to that? For each
set, the second table has the candidate with the best mean accuracy on all *other* sets, and what it would
have cost on this one, in points of accuracy against our default: {mean} in the mean, {worst} at worst
({where}). The first table has all candidates; ours is in bold. Rates are multiples of the default of the
loss, 0.4, and of the factor for a rare class, but where it says "whatever the classes".

{candidates}

{sets}
"""
