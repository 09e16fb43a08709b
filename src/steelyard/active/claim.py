"""`Claim`: what a certificate is to say, and the rules by which an attempt at it begins.

Python, the command line and the page begin attempts here, so that they draw from the same rows and say the
same about them:

- *error* counts the rows without a label: the others are known, whatever the model, which has learned them,
  predicts;
- *precision* counts the rows without a label that the model predicts to be positive;
- *recall* counts what people have found in all rows; draws are from those that nobody has read.

A row that somebody skipped has no label, but was read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active.attempt import Attempt
from steelyard.active.certification import ReadRow
from steelyard.active.sequential_tests import ALPHA
from steelyard.scoring import probabilities

if TYPE_CHECKING:
    from steelyard.active.learner import ActiveLearner
    from steelyard.examples import Examples


class Population(NamedTuple):
    """The rows that a claim is about, and what the learner has read of them."""

    rows: "Examples"
    numbers: NDArray[np.int64]
    """The learner's number of each row."""
    read: Mapping[int, tuple[int, int | None]]
    """By the learner's number, in the order of reading: the row, and the random order that it was picked from."""
    classes: Sequence[Any]
    positive: Any
    """The class of precision and recall; None if no class is named."""


@dataclass(frozen=True)
class Claim:
    """The arguments of `certify`."""

    measure: str
    target: float
    alpha: float = ALPHA
    most: int | None = None
    plan: float | None = None

    def is_that_of(self, attempt: Attempt) -> bool:
        """Whether the attempt is at this claim, however many labels it may take."""
        return all(
            getattr(attempt, name) == getattr(self, name) for name in ("measure", "target", "alpha", "plan")
        )

    def attempt(
        self, learner: "ActiveLearner", population: Population, last: Attempt | None, *, to_end: str
    ) -> Attempt:
        """The last attempt if it is under way or has proved this claim, or else a new one.

        `to_end` says how an attempt at another claim is ended.
        """
        if self.measure in ("precision", "recall") and population.positive is None:
            raise ValueError(
                f"of several classes, {self.measure} is that of one: name it as the positive class in the "
                "beginning, or certify the error"
            )
        with learner.lock:
            same = last is not None and self.is_that_of(last)
            if last is not None and not last.over and not same:
                raise ValueError(
                    f"attempt {last.attempt} ({last.claim}) is not over: go on with it, or end it with "
                    f"{to_end}"
                )
            if last is not None and same and (not last.over or last.holds(population.rows)):
                return last
            return self._begin(learner, population)

    def _begin(self, learner: "ActiveLearner", population: Population) -> Attempt:
        rows, classes = population.rows, list(population.classes)
        codes = probabilities.decide(learner.labelled.settings.loss, learner.predict(rows))
        known, read = learner.labels, population.read
        reads: list[ReadRow] = []
        if self.measure == "recall":
            _check_answered(learner, read)
            names: dict[float | None, Any] = dict(zip(learner.labelled.codes, classes, strict=True))
            reads = [
                ReadRow(row, names.get(known.get(number)), source) for number, (row, source) in read.items()
            ]
            without = [each.row for each in reads]
        else:
            without = [row for number, (row, _) in read.items() if number in known]
        among = np.setdiff1d(np.arange(len(rows)), without)
        if self.measure == "precision":
            among = among[codes[among] == classes.index(population.positive)]
        return Attempt.begin(
            learner, rows, population.numbers, codes=codes, among=among, reads=reads,
            claim=asdict(self) | {"classes": classes, "positive": population.positive},
        )  # fmt: skip


def _check_answered(learner: "ActiveLearner", read: Mapping[int, Any]) -> None:
    """Raise a ValueError if a row has no answer: it would be a hole in the random order of the picks."""
    waiting = sum(number in read for number in learner.open)
    if waiting:
        raise ValueError(
            f"recall needs an answer to every question: {waiting} wait for one; answer or skip them first"
        )
