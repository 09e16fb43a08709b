"""`Certification`: one attempt to certify fixed predictions, or the answers so far.

The order of the draws follows from the seed, the number of the attempt and the rows that may be drawn, all of
which are in the certificate beside every draw, its prediction and its answer. `verify` recomputes everything.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._atomic_files import replacing
from steelyard._messages import counted
from steelyard.active import counter_rng
from steelyard.active.sequential_tests import (
    ALPHA,
    PlannedTest,
    RecallTest,
    ShareTest,
    attempt_alpha,
    error_below,
    planned,
    precision_at_least,
)

FORMAT = 2
"""1: certificates of error or precision without a plan; 2: all."""
MEASURES = ("error", "precision", "recall")
_WIDTH, _HEIGHT = 640.0, 200.0  # of the picture on the page, in its own units
_DRAWS = 1 << 48  # where the purposes of these random numbers begin, one for each attempt


class ReadRow(NamedTuple):
    """A row that was read before an attempt at recall began."""

    row: int
    answer: Any
    """The class of the row; None if nobody could tell."""
    source: int | None
    """The random order it was picked from: 0 that of the strategy, j that of attempt j; None: from none."""


class Certification:
    """Rows are drawn at random from those of `among`; ask for their labels until the test has passed.

    `predictions` has a class for each row of the pool, and does not change. `most` is the number of labels
    after which the attempt is given up. With a `plan`, the error or precision that is expected, the number of
    labels is said beforehand, and `test.plan` has it. Recall is that of the rows that were read: those of
    `reads`, in their order, and then the draws.
    """

    def __init__(
        self, measure: str, target: float, classes: Sequence[Any], predictions: Sequence[Any],
        among: NDArray[np.int64], *, alpha: float = ALPHA, attempt: int = 1, seed: int = 0,
        most: int | None = None, plan: float | None = None, positive: Any = None,
        reads: Sequence[ReadRow] = (), about: dict[str, Any] | None = None, model_answers: int = 0,
    ) -> None:  # fmt: skip
        if measure not in MEASURES:
            raise ValueError(f"certificates are of {', '.join(MEASURES)}, not of {measure!r}")
        if plan is not None and measure == "recall":
            raise ValueError("a plan is for error and precision: recall depends on what will be found")
        if not len(among) and measure != "recall":
            raise ValueError(f"there is no row to draw from for a certificate of {measure}")
        self.measure, self.target, self.alpha, self.seed = measure, target, alpha, seed
        self.attempt, self.plan, self.positive, self.about = attempt, plan, positive, about or {}
        self.classes, self._predictions, self.reads = classes, predictions, tuple(reads)
        self._among, self._size = among, len(predictions)
        self._order = draw_order(seed, attempt, self._size, among)
        self.most, self.given_up = most, False
        self.model_answers = model_answers
        """How many labels the model had learned."""
        self.answers: list[Any] = []
        self.evidence_path: list[float] = []
        """The logarithm of the evidence after each label of this attempt."""
        self.test = self._begin()

    def prediction(self, row: int) -> Any:
        """The class that the fixed model predicts."""
        return self._predictions[row]

    def _begin(self) -> ShareTest | PlannedTest | RecallTest:
        rows, alpha = len(self._among), attempt_alpha(self.alpha, self.attempt)
        if self.measure == "recall":
            test = RecallTest(self.target, len(self.reads) + rows, alpha)
            for read in self.reads:
                test.add(relevant=self._is_relevant(read.answer), picked=read.source is not None)
            return test
        if self.plan is not None:
            return planned(self.measure, self.target, rows, alpha, self.plan)
        return (error_below if self.measure == "error" else precision_at_least)(self.target, rows, alpha)

    def _is_relevant(self, answer: Any) -> bool:
        return answer is not None and bool(answer == self.positive)

    @property
    def passed(self) -> bool:
        return self.test.passed

    @property
    def over(self) -> bool:
        """Whether no more labels are wanted, for better or worse."""
        most = len(self._order) if self.most is None else min(self.most, len(self._order))
        return self.given_up or self.test.passed or self.test.hopeless or len(self.answers) >= most

    def still_holds(self, learned: int, pool_size: int) -> bool:
        """Whether it has passed, for a model that has learned so much and a pool of that size."""
        same = self.measure == "recall" or learned <= self.model_answers
        return self.passed and same and self.pool_size == pool_size

    @property
    def labels_left(self) -> int | None:
        """How many more labels it takes if the share of wrong ones stays as seen; None if it cannot pass.

        For recall: if nothing more is found.
        """
        return self.test.forecast()

    def ask_next(self) -> int | None:
        """The row whose label is wanted; None when the test has passed or the attempt is over."""
        return None if self.over else int(self._order[len(self.answers)])

    def answer(self, row: int, label: Any) -> None:
        """The label of the row that was asked for; None if nobody knows.

        That counts as wrong; for recall, such a row is not relevant.
        """
        self._take(row, self._check(row, label))

    def _check(self, row: int, label: Any) -> Any:
        wanted = self.ask_next()
        if row != wanted:
            raise ValueError(f"row {row} was not asked for: the next answer is that of row {wanted}")
        known = None if label is None else next((each for each in self.classes if each == label), None)
        if known is None and label is not None:
            raise ValueError(f"row {row} has the label {label!r}: the classes are {self.classes}")
        return known

    def restore(self, answers: Sequence[tuple[int, Any]]) -> None:
        """Begin the test anew with these answers, rows and their labels, all of which were checked before."""
        self.test, self.answers, self.evidence_path = self._begin(), [], []
        for row, label in answers:
            self._take(row, label)

    def _take(self, row: int, known: Any) -> None:
        if isinstance(self.test, RecallTest):
            self.test.add(relevant=self._is_relevant(known), picked=True)
            self.evidence_path.append(self.test.log_evidence(self.test.claim))
        else:
            self.test.add(bad=known is None or known != self._predictions[row])
            self.evidence_path.append(self.test.log_evidence)
        self.answers.append(known)

    @property
    def claim(self) -> str:
        """The claim in words."""
        if self.measure == "recall":
            return f"recall of {self.positive!r} at least {self.target:g} in {counted(self.test.rows, 'row')}"
        bound = "below" if self.measure == "error" else "at least"
        return f"{self.measure} {bound} {self.target:g} on {counted(self.test.rows, 'row')} without a label"

    def __str__(self) -> str:
        if isinstance(self.test, RecallTest):
            counts = f"{self.test.read:,} read, {self.test.found:,} found"
        else:
            counts = f"{counted(self.test.draws, 'label')}, {self.test.bad:,} wrong"
        risk = f"α = {self.alpha:g}, attempt {self.attempt}"
        return f"{'certified' if self.passed else 'not certified'}: {self.claim} ({counts}; {risk})"

    def certificate(self) -> dict[str, Any]:
        """The claim and all that is needed to check it, as JSON takes it."""
        drawn = self._order[: len(self.answers)].tolist()
        rows = {"all_but": np.setdiff1d(np.arange(self._size), self._among).tolist()}
        if self.measure == "precision":
            rows = {"only": self._among.tolist()}
        elif self.measure == "recall":
            rows = {}  # all but those that were read
        return {
            "format": FORMAT, "says": str(self), "passed": self.passed, "measure": self.measure,
            "target": self.target, "alpha": self.alpha, "attempt": self.attempt, "seed": self.seed,
            "plan": self.plan, "positive": self.positive, "classes": self.classes, "pool": self._size,
            "rows": rows, "reads": [list(read) for read in self.reads],
            "log_evidence": _finite(self.evidence_path[-1]) if self.evidence_path else None,
            "draws": [
                {"row": row, "prediction": self._predictions[row], "answer": answer}
                for row, answer in zip(drawn, self.answers, strict=True)
            ],
        } | self.about  # fmt: skip

    @property
    def pool_size(self) -> int:
        """How many rows the pool had; it may have grown since."""
        return self._size

    def save(self, path: str | Path) -> None:
        """Write the certificate as JSON, and as a page to read next to it: NAME.json and NAME.html."""
        target = Path(path)
        if target.suffix == ".html":
            raise ValueError(f"{target}: name the JSON file; the page is written beside it")
        with replacing(target) as temporary:
            temporary.write_text(json.dumps(self.certificate(), ensure_ascii=False, indent=1) + "\n", "utf-8")
        with replacing(target.with_suffix(".html")) as temporary:
            temporary.write_text(_page(self, target.name), "utf-8")


def draw_order(seed: int, attempt: int, size: int, among: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of `among` in the random order of this attempt."""
    order = counter_rng.order(seed, _DRAWS + attempt, size)
    allowed = np.zeros(size, bool)
    allowed[among] = True
    return order[allowed[order]]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _page(found: Certification, name: str) -> str:
    """The page for people: one file that needs no other, no network and no script, all values escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only needed here

    environment = Environment(
        loader=PackageLoader("steelyard.active"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("certificate.html.j2").render(
        found=found, name=name, risk=attempt_alpha(found.alpha, found.attempt),
        recall=found.test if isinstance(found.test, RecallTest) else None, chart=_chart(found),
        draws=found.certificate()["draws"],
    )  # fmt: skip


def _chart(found: Certification) -> dict[str, Any] | None:
    """The evidence after each label, as logarithms, and where the test passes; None without any."""
    path = [value for value in found.evidence_path if not math.isnan(value)]
    if not path:
        return None
    wanted = -math.log(attempt_alpha(found.alpha, found.attempt))
    high, low = 1.15 * wanted, min(0.0, max(-wanted, min(path)))

    def place(value: float) -> float:
        return _HEIGHT * (high - min(max(value, low), high)) / (high - low)

    points = [(0.0, place(0.0))]
    points += [(_WIDTH * at / len(path), place(value)) for at, value in enumerate(path, 1)]
    return {
        "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points), "wanted": round(place(wanted), 1),
        "even": round(place(0.0), 1), "factor": math.exp(wanted), "labels": len(path),
    }  # fmt: skip
