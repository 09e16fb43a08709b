"""`Sequence`: a lower and an upper bound of a sum of scores that hold at every moment at once.

Look at them after every answer, stop when they are narrow, go on later: with the confidence asked for, the
sum was never outside, at no moment from the first row on. That is a confidence *sequence*. An interval of
fixed size, such as "±1.96 standard errors", holds at one moment chosen beforehand, and fails one who looks
repeatedly.

The idea of betting is from Waudby-Smith & Ramdas (2024), of importance weights in it from Karampatziakis,
Mineiro & Ramdas (2021) and Waudby-Smith et al. (2022), of predictions as control variates from Zrnic &
Candès (2024).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active.laws import Law
from steelyard.active.wealth import STAKES, Array, Wealth

Flags = NDArray[np.bool_]

_PIECE = 4096  # rows for which all stakes are kept in memory
_FIRST_GUESS = 0.5
_KINDS = 10  # of rows: P from 1 to 1/2, from there to 1/4, and so on


class Standing(NamedTuple):
    """A sum and what is known of it: after all rows so far, or one entry for each moment."""

    value: Array
    low: Array
    high: Array
    rows: Array
    asked: Array
    skipped: Array
    known: Array
    """The sum of the scores that were answered."""

    def at(self, moments: NDArray[np.int64]) -> "Standing":
        return Standing(*(column[moments] for column in self))


class Sequence:
    """Rows come in the order of the stream, with scores in [0, 1].

    The bettor's guess of a score is the average so far, among rows asked with about the same probability
    (where questions are chosen well, errors are rare where questions are). If guesses are `given` too,
    known before the coin of their row fell, half of the money follows them: good ones narrow the bounds,
    bad ones cost little.
    """

    def __init__(self, law: Law, given: bool = False) -> None:
        self.law, self.given = law, given
        self._low, self._high = Wealth(1 + given), Wealth(1 + given)
        self._answers = np.zeros((2, _KINDS))  # how many, and the sum of their scores
        self._sums = np.zeros(5)  # the estimate; rows, asked, skipped; known

    def add(self, probability: Array, asked: Flags, score: Array, guess: Array | None = None) -> None:
        """Rows that have come. A score of NaN where a row was asked means no answer: the worst is assumed."""
        for part in _pieces(probability, asked, score, guess):
            sums, low, high = self._count(*part)
            self._sums = np.vstack([self._sums, sums]).sum(axis=0)
            self._low.add(*low)
            self._high.add(*high)

    def path(
        self, probability: Array, asked: Flags, score: Array, guess: Array | None, alpha: float
    ) -> Standing:
        """`add`, and how things stood before the rows and after each of them."""
        stood = [Standing(*(column[np.newaxis] for column in self.standing(alpha)))]
        for part in _pieces(probability, asked, score, guess):
            sums, low, high = self._count(*part)
            history = np.cumsum(np.vstack([self._sums, sums]), axis=0)
            self._sums = history[-1]
            least = [self._low.path(*low, alpha / 2.0), self._high.path(*high, alpha / 2.0)]
            stood.append(self._standing(history[1:].T, *least))
        return Standing(*(np.concatenate(columns) for columns in zip(*stood, strict=True)))

    def standing(self, alpha: float) -> Standing:
        """How things stand. Each of the bounds is wrong at any moment with probability α/2 at most."""
        return self._standing(self._sums, self._low.least(alpha / 2.0), self._high.least(alpha / 2.0))

    def _standing(self, sums: Array, least: Array, least_lack: Array) -> Standing:
        value, rows, asked, skipped, known = sums
        size = rows if self.law.asked_too else rows - asked + skipped
        low, high = np.clip(least, 0.0, size), np.clip(size - least_lack, 0.0, size)
        high = np.maximum(low, high)
        return Standing(np.clip(value, low, high), low, high, rows, asked, skipped, known)

    def _count(
        self, probability: Array, asked: Flags, score: Array, guess: Array | None
    ) -> tuple[Array, tuple[Array, Array], tuple[Array, Array]]:
        """What the rows add to the sums, and to the wealth of both bettors."""
        answered = asked & ~np.isnan(score)
        guesses = self._means(probability, answered, score)[:, np.newaxis]
        if guess is not None:
            guesses = np.column_stack([guesses, guess])
        # The estimate follows the best guess there is; a row without an answer is taken for what was guessed.
        best = guesses[:, -1]
        if self.law.asked_too:
            estimate = best + np.where(answered, (score - best) / probability, 0.0)
        else:
            estimate = np.where(answered, (score - best) * (1.0 / probability - 1.0), best)
        known = np.where(answered, score, 0.0)
        sums = np.column_stack([estimate, np.ones(len(asked)), asked, asked & ~answered, known])
        return (
            sums,
            self._bets(probability, asked, known, guesses),
            self._bets(probability, asked, np.where(answered, 1.0 - score, 0.0), 1.0 - guesses),
        )

    def _bets(self, probability: Array, asked: Flags, score: Array, guesses: Array) -> tuple[Array, Array]:
        """Gains and centres, by row, guess and stake."""
        column = probability[:, np.newaxis, np.newaxis]
        centres = np.minimum(guesses[:, :, np.newaxis], self.law.room(column) / STAKES)
        gains = np.zeros_like(centres)
        surprise = STAKES * (score[asked, np.newaxis, np.newaxis] - centres[asked])
        gains[asked] = self.law.gain(surprise, column[asked])
        if not self.law.asked_too:
            centres[asked] = 0.0
        return gains, centres

    def _means(self, probability: Array, answered: Flags, score: Array) -> Array:
        """The average score of answers before each row, among rows asked with about the same probability."""
        alike = np.minimum(-np.log2(probability), _KINDS - 1.0).astype(int)
        kinds = answered[:, np.newaxis] & (alike[:, np.newaxis] == np.arange(_KINDS))
        scores = np.where(kinds, score[:, np.newaxis], 0.0)
        history = np.cumsum(np.concatenate([self._answers[np.newaxis], np.stack([kinds, scores], 1)]), axis=0)
        self._answers = history[-1]
        overall = _mean(history[:-1].sum(axis=2), _FIRST_GUESS)
        return _mean(history[np.arange(len(alike)), :, alike], overall)


def _pieces(
    probability: Array, asked: Flags, score: Array, guess: Array | None
) -> Iterator[tuple[Array, Flags, Array, Array | None]]:
    for start in range(0, len(probability), _PIECE):
        part = slice(start, start + _PIECE)
        yield probability[part], asked[part], score[part], None if guess is None else guess[part]


def _mean(answers: Array, prior: Array | float) -> Array:
    """Of counts and sums, with a prior that counts as one answer: never outside [0, 1]."""
    return np.minimum((answers[:, 1] + prior) / (answers[:, 0] + 1.0), 1.0)
