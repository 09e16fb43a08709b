"""`Attempt`: a certification whose answers are in the journal, and are learned when it has failed.

It is stored as it began, with the predictions of the model of that time. So it goes on where it was after the
process was killed, whatever the learner has learned since.
"""

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.active._damage import reading
from steelyard.active._journal_attempts import GIVE_UP, LABEL, LEARN, TAKE_BACK, AttemptEntry
from steelyard.active.certification import Certification, ReadRow
from steelyard.active.journal import Journal
from steelyard.model import Model

if TYPE_CHECKING:
    from steelyard.active.learner import ActiveLearner
    from steelyard.examples import Examples


class Attempt(Certification):
    """Made by `begin` or `resume`. `numbers` has the learner's number of each row of the pool.

    Everything is in the journal before it counts. Threads may share it.
    """

    def __init__(
        self, learner: "ActiveLearner", pool: "Examples", numbers: NDArray[np.int64], start: dict[str, Any]
    ) -> None:
        super().__init__(**_claim(start))
        self._learner, self._pool, self._numbers, self._turns = learner, pool, numbers, start["turns"]
        self.learned = False

    @classmethod
    def begin(
        cls, learner: "ActiveLearner", pool: "Examples", numbers: NDArray[np.int64], *,
        codes: NDArray[np.intp], among: NDArray[np.int64], claim: Mapping[str, Any],
        reads: Sequence[ReadRow],
    ) -> Self:  # fmt: skip
        """A new attempt. The claim has arguments of `Certification`, without those that are given here."""
        size = len(pool)
        allowed = np.zeros(size, np.uint8)
        allowed[among] = 1
        start = {
            **claim, "attempt": learner.journal.attempts.count() + 1, "seed": learner.training.seed,
            "model": digest(learner.models), "pool_checksum": fingerprint(pool),
            "reads": [list(read) for read in reads], "among": "".join(map(str, allowed.tolist())),
            "predictions": codes.astype(int).tolist(), "turns": len(learner.journal.turns()),
            "learned": len(learner.labelled),
        }  # fmt: skip
        attempt = cls(learner, pool, numbers, start)
        learner.journal.attempts.begin(attempt.attempt, start)
        return attempt

    @classmethod
    def resume(
        cls, learner: "ActiveLearner", pool: "Examples", numbers: NDArray[np.int64], number: int
    ) -> Self | None:
        """The attempt of this number as it is in the journal; None if there is none."""
        kept = learner.journal.attempts.read(number)
        if kept is None:
            return None
        start, entries = kept
        with reading(learner.journal.path):
            attempt = cls(learner, pool, numbers, start)
            _replay(attempt, entries)
        attempt.learned = any(kind == LEARN for kind, _, _ in entries)
        done = attempt.learned or attempt.passed
        size = len(start["predictions"])
        same = pool if len(pool) <= size else pool.take(np.arange(size))  # it may have grown since
        if not done and start["pool_checksum"] != fingerprint(same):
            raise ValueError(
                f"attempt {number} in {learner.journal.path} is about other rows: go on with those"
            )
        attempt._learn_if_failed()
        return attempt

    def has_drawn(self, row: int, ahead: int = 0) -> bool:
        """Whether the row was drawn and has its answer, or is among the `ahead` that are drawn next."""
        return bool((self._order[: len(self.answers) + (0 if self.over else ahead)] == row).any())

    def upcoming(self, count: int) -> list[int]:
        """The next `count` rows that the attempt wants; several people may look at them at once."""
        return [] if self.over else self._order[len(self.answers) :][:count].tolist()

    def drawn(self) -> dict[int, Any]:
        """The answers so far by their rows."""
        return dict(zip(self._order.tolist(), self.answers, strict=False))

    def number_of(self, row: int) -> int:
        """The learner's number of a row of the pool."""
        return int(self._numbers[row])

    def holds(self, rows: "Examples") -> bool:
        """Whether it has passed, for these rows and the model as it is, so that it need not be tried again.

        Recall is not a claim about the model.
        """
        if not self.passed or self.about["pool_checksum"] != fingerprint(rows):
            return False
        return self.measure == "recall" or self.about["model"] == digest(self._learner.models)

    def answer(self, row: int, label: Any) -> None:
        """The label of the row that was asked for; None if nobody knows.

        That counts as wrong; for recall, such a row is not relevant.
        """
        with self._learner.lock:
            known = self._check(row, label)
            self._write(LABEL, row, known)
            self._take(row, known)
            self._learn_if_failed()

    def undo(self) -> int:
        """Take back the last answer, and return its row, which is asked for again."""
        with self._learner.lock:
            if self.learned:
                raise ValueError("the attempt is over, and its answers were learned: none can be taken back")
            if not self.answers:
                raise ValueError("there is nothing to undo: the attempt has no answer yet")
            self._write(TAKE_BACK)
            self.restore(list(self.drawn().items())[:-1])
            return int(self._order[len(self.answers)])

    def give_up(self) -> None:
        """End the attempt as it is; what it has is learned."""
        with self._learner.lock:
            if not self.over:
                self._write(GIVE_UP)
                self.given_up = True
            self._learn_if_failed()

    def learn(self) -> None:
        """Let the model learn the answers; once. A failed attempt does so by itself, and one at recall.

        After another one that passed, the model remains the one that was certified until this is called.
        """
        with self._learner.lock:
            if self.learned:
                return
            if not self.over:
                raise ValueError("the attempt is not over: its model must not learn from it yet")
            codes = self._learner.labelled.codes
            drawn = self.drawn()
            labels = {
                self.number_of(row): codes[self.classes.index(answer)]
                for row, answer in drawn.items()
                if answer is not None
            }
            by_number = {self.number_of(row): row for row in drawn}
            # They count for later attempts, too, if they were the next rows to be read, all of them.
            alone = None not in self.answers and len(self._learner.journal.turns()) == self._turns
            source = self.attempt if self.measure == "recall" and alone else None
            self._learner.teach(labels, by_number, self._pool, source=source, attempt=self.attempt)
            self.learned = True

    def _learn_if_failed(self) -> None:
        """Learn the answers of a failed attempt, and of any at recall: that is not a claim about the model."""
        failed = self.over and (self.measure == "recall" or not self.passed)
        if failed and not self._learner.journal.file.read_only:
            self.learn()

    def _write(self, kind: str, row: int | None = None, label: Any = None) -> None:
        self._learner.journal.attempts.add(self.attempt, kind, row, label)


def _claim(start: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `Certification`, from an attempt as it began."""
    classes = start["classes"]
    among = np.flatnonzero(np.frombuffer(start["among"].encode(), np.uint8) == ord("1"))
    same = ("measure", "target", "classes", "alpha", "attempt", "seed", "most", "plan", "positive")
    return {name: start[name] for name in same} | {
        "predictions": [classes[code] for code in start["predictions"]], "among": among,
        "reads": [ReadRow(*read) for read in start["reads"]],
        "about": {name: start[name] for name in ("model", "pool_checksum")},
        "model_answers": start["learned"],
    }  # fmt: skip


def certification_in(journal: Journal, number: int, most: int | None = None) -> Certification | None:
    """The attempt of this number with its answers, or the first of them; None if there is none."""
    if (kept := journal.attempts.read(number)) is None:
        return None
    start, entries = kept
    with reading(journal.path):
        found = Certification(**_claim(start))
        _replay(found, entries, most)
        return found


def past_attempts(journal: Journal) -> list[Certification]:
    """The attempts in the journal that are over, in their order."""
    every = (certification_in(journal, number) for number in range(1, journal.attempts.count() + 1))
    return [each for each in every if each is not None and each.over]


def best_of(
    past: Sequence[Certification], measure: str, learned: int, pool_size: int
) -> Certification | None:
    """The strongest certificate that holds now, of that measure before others.

    If none does, the last that passed; if none has, the last attempt; None if there was none.
    """

    def strength(each: Certification) -> tuple[bool, float]:
        return each.measure == measure, -each.target if each.measure == "error" else each.target

    holding = [each for each in past if each.still_holds(learned, pool_size)]
    if holding:
        return max(reversed(holding), key=strength)
    passed = [each for each in past if each.passed]
    return (passed or past)[-1] if past else None


def digest(models: Sequence[Model]) -> str:
    """A checksum of the model of a certificate, or of those of several classes."""
    found = hashlib.sha256()
    for model in models:
        found.update(model.coefficients().tobytes() + np.float64(model.bias).tobytes())
    return found.hexdigest()


def fingerprint(chunk: "Examples") -> int:
    """A checksum of a pool, so that nothing is continued with other rows."""
    found = 0
    for array in (chunk.indptr, chunk.indices, chunk.values):
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return found


def _replay(attempt: Certification, entries: Sequence[AttemptEntry], most: int | None = None) -> None:
    """Give an attempt the answers that were not taken back, or the first of them, and end it if it was."""
    kept: list[tuple[int, Any]] = []
    for kind, row, label in entries:
        if kind == LABEL:
            assert row is not None
            kept.append((row, label))
        elif kind == TAKE_BACK:
            kept.pop()
    attempt.restore(kept[:most])
    attempt.given_up = any(kind == GIVE_UP for kind, _, _ in entries)
