"""`Certification`: one attempt to certify fixed predictions; what it writes can be checked by anyone.

The order of the draws follows from the seed, the number of the attempt and the rows that may be drawn, all of
which are in the certificate beside every draw, its prediction and its answer. `verify` computes it all anew.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._atomic_files import replacing
from steelyard._messages import counted
from steelyard.active import counter_rng
from steelyard.active.certificates import (
    ALPHA,
    ShareTest,
    attempt_alpha,
    error_below,
    precision_at_least,
)

FORMAT = 1
CLAIMS = {"error": error_below, "precision": precision_at_least}
_DRAWS = 1 << 48  # where the purposes of these random numbers begin, one for each attempt


class Certification:
    """Rows are drawn at random from those of `among`; ask for their labels until the test has passed.

    `predictions` has a class for each row of the pool, and does not change. `most` is the number of labels
    after which the attempt is given up.
    """

    def __init__(
        self, measure: str, target: float, classes: Sequence[Any], predictions: Sequence[Any],
        among: NDArray[np.int64], *, alpha: float = ALPHA, attempt: int = 1, seed: int = 0,
        most: int | None = None, about: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        if measure not in CLAIMS:
            raise ValueError(f"certificates are of {' or '.join(CLAIMS)}, not of {measure!r}")
        if not len(among):
            raise ValueError(f"there is no row to draw from for a certificate of {measure}")
        self.measure, self.target, self.alpha, self.seed = measure, target, alpha, seed
        self.attempt, self.about = attempt, about or {}
        self.classes, self._predictions = classes, predictions
        self.test: ShareTest = CLAIMS[measure](target, len(among), attempt_alpha(alpha, attempt))
        self._among, self._size = among, len(predictions)
        self._order = draw_order(seed, attempt, self._size, among)
        self._most = len(among) if most is None else most
        self._answers: list[Any] = []

    @property
    def passed(self) -> bool:
        return self.test.passed

    def ask_next(self) -> int | None:
        """The row whose label is wanted; None when the test has passed or the attempt is over."""
        over = self.test.passed or self.test.hopeless or self.test.draws >= min(self._most, len(self._order))
        return None if over else int(self._order[self.test.draws])

    def answer(self, row: int, label: Any) -> None:
        """The label of the row that was asked for; None if nobody knows, which counts as wrong."""
        wanted = self.ask_next()
        if row != wanted:
            raise ValueError(f"row {row} was not asked for: the next answer is that of row {wanted}")
        known = None if label is None else next((each for each in self.classes if each == label), None)
        if known is None and label is not None:
            raise ValueError(f"row {row} has the label {label!r}: the classes are {self.classes}")
        self.test.add(bad=known is None or known != self._predictions[row])
        self._answers.append(known)

    def __str__(self) -> str:
        bound = "below" if self.measure == "error" else "at least"
        of = f"{self.measure} {bound} {self.target:g} on {counted(self.test.rows, 'row')} without a label"
        counts = f"{counted(self.test.draws, 'label')}, {self.test.bad:,} wrong"
        risk = f"α = {self.alpha:g}, attempt {self.attempt}"
        return f"{'certified' if self.passed else 'not certified'}: {of} ({counts}; {risk})"

    def certificate(self) -> dict[str, Any]:
        """What was claimed and all that is needed to check it, as JSON takes it."""
        drawn = self._order[: self.test.draws].tolist()
        rows = {"all_but": np.setdiff1d(np.arange(self._size), self._among).tolist()}
        if self.measure != "error":
            rows = {"only": self._among.tolist()}
        return {
            "format": FORMAT, "says": str(self), "passed": self.passed, "measure": self.measure,
            "target": self.target, "alpha": self.alpha, "attempt": self.attempt, "seed": self.seed,
            "classes": self.classes, "pool": self._size, "rows": rows,
            "log_evidence": _finite(self.test.log_evidence),
            "draws": [
                {"row": row, "prediction": self._predictions[row], "answer": answer}
                for row, answer in zip(drawn, self._answers, strict=True)
            ],
        } | self.about  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write the certificate as JSON."""
        with replacing(Path(path)) as temporary:
            temporary.write_text(json.dumps(self.certificate(), ensure_ascii=False, indent=1) + "\n", "utf-8")


def draw_order(seed: int, attempt: int, size: int, among: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of `among` in the random order of this attempt."""
    order = counter_rng.order(seed, _DRAWS + attempt, size)
    allowed = np.zeros(size, bool)
    allowed[among] = True
    return order[allowed[order]]


def verify(certificate: dict[str, Any]) -> Certification:
    """Compute everything anew from draws and answers; an error says what does not agree."""
    try:
        return _verify(certificate)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"is not a certificate: {type(error).__name__} {error}") from error


def _verify(certificate: dict[str, Any]) -> Certification:
    if certificate["format"] != FORMAT:
        raise ValueError(
            f"has the format {certificate['format']}, and this steelyard reads {FORMAT}; upgrade"
        )
    size, rows, draws = certificate["pool"], certificate["rows"], certificate["draws"]
    among = np.array(rows["only"]) if "only" in rows else np.setdiff1d(np.arange(size), rows["all_but"])
    predictions: list[Any] = [None] * size
    for draw in draws:
        predictions[draw["row"]] = draw["prediction"]
    found = Certification(
        certificate["measure"], certificate["target"], certificate["classes"], predictions,
        among.astype(np.int64), alpha=certificate["alpha"], attempt=certificate["attempt"],
        seed=certificate["seed"],
    )  # fmt: skip
    for number, draw in enumerate(draws, 1):
        if found.ask_next() != draw["row"]:
            raise ValueError(
                f"draw {number} is row {draw['row']}, where seed and attempt give {found.ask_next()}: "
                "the draws are not those of the certificate's seed"
            )
        found.answer(draw["row"], draw["answer"])
    for name, now in (("passed", found.passed), ("says", str(found))):
        if certificate[name] != now:
            raise ValueError(f"{name!r} is {certificate[name]!r}, but its draws and answers give {now!r}")
    return found


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
