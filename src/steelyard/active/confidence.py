"""`ConfidenceSequence`: bounds for a sum of scores that are valid at all times at once.

Look at the bounds after every answer, stop when they are narrow, continue later: with probability 1 − α the
sum was never outside them, from the first row on. An interval of fixed size, such as ±1.96 standard errors,
is valid at one time chosen beforehand, and fails those who look repeatedly.

A bettor claims that the sum is larger than s. Each row multiplies the bettor's wealth by a factor whose mean
is at most 1 if the claim is false. So wealth against the true sum is a nonnegative supermartingale that
starts at 1, and exceeds 1/α *ever* with probability at most α (Ville's inequality). The values s at which
wealth exceeds 1/α are ruled out, at all times at once; they are all the values below a root. A second bettor,
on 1 − score, gives the upper bound.

Wealth is averaged over many stakes λ. That costs about the logarithm of their number, and spares us from
knowing how many rows there will be and how much they vary (the method of mixtures; Robbins 1970, Howard et
al. 2021). Betting is from Waudby-Smith & Ramdas (2024), importance weights from Karampatziakis, Mineiro &
Ramdas (2021) and Waudby-Smith et al. (2022), predictions as control variates from Zrnic & Candès (2024).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

BOLDNESS = 0.9  # of the largest guess that a stake allows: at 1, a single score of 0 would ruin the bettor
# The best stake is about √(2·log(1/α) / summed variance): from a handful of rows to 10⁹ of them at P = 1 %.
STAKES: Array = 8.0 * np.exp2(-0.5 * np.arange(41.0))
_octaves = (np.log2(STAKES) + 5.0) / 3.0
PRIOR: Array = 1.0 / (1.0 + _octaves**2)  # most of the money is on the stakes that most streams need
PRIOR /= PRIOR.sum()

_NEWTON_STEPS = 4  # it converges quadratically here
_PIECE = 4096  # rows for which all stakes are held in memory
_FIRST_GUESS = 0.5
_KINDS = 10  # of rows: P from 1 to 1/2, from there to 1/4, and so on


@dataclass(frozen=True)
class Bet:
    """How one row changes the wealth of a bettor.

    A row has the probability P with which its label was asked for and a guess g of its score ℓ, both known
    before the random draw; if it was asked for, also ℓ in [0, 1]. Bets are on *large* sums; for small ones
    bet on 1 − ℓ. A guess that the stake does not allow is reduced: that costs width, never validity.
    """

    room: Callable[[Array], Array]
    """The largest product of stake and guess, given P."""
    gain: Callable[[Array, Array], Array]
    """The logarithm of the factor of an asked row, given λ(ℓ − g) and P."""
    asked_too: bool
    """Whether the rows that were asked for are part of the sum."""


def _pool_room(probability: Array) -> Array:
    with np.errstate(divide="ignore"):  # P = 1: any guess is allowed
        return -BOLDNESS * np.log1p(-probability)


RISK = Bet(lambda p: BOLDNESS * p, lambda stake, p: np.log1p(stake / p), asked_too=True)
"""Sums the means μ of the scores given the past, whatever they are and however they change:

    E[1 + λ·asked·(ℓ − g)/P] = 1 + λ(μ − g) ≤ exp(λ(μ − g))

so gain = log(1 + λ(ℓ − g)/P), and nothing for a row that was not asked for. It needs λg ≤ P. It is also valid
if μ is the score itself, rows and labels taken as given: one interval for the risk of the models and for
their record.
"""

POOL = Bet(_pool_room, lambda stake, p: np.log1p((1.0 / p - 1.0) * -np.expm1(-stake)), asked_too=False)
"""Sums the scores of the rows that were *not* asked for, rows and labels taken as given; only the draws are
random. The factor is exp(−λ(ℓ − g)) where not asked, and where asked

    A = (1 − (1 − P)·exp(−λ(ℓ − g)))/P,   so that the mean P·A + (1 − P)·exp(−λ(ℓ − g)) is exactly 1.

gain = log A; it needs λg ≤ −log(1 − P). A row with P = 1 adds no uncertainty at all. (A row that was asked
for but not answered belongs to the sum as well, as anything from 0 to 1.)
"""


def lower_bound(gain: Array, centre: Array, alpha: float) -> Array:
    """The root in s of: the average over guesses and stakes of the wealth exp(gain + λ·(centre − s)) is 1/α.

    The logarithm of the average is convex and falls with s. So Newton's method, from the best bound of any
    single stake, climbs to the root and never beyond it: wherever it stops, the bound is valid.
    """
    guesses = gain.shape[-2]
    flat = (*gain.shape[:-2], guesses * len(STAKES))
    stakes = np.tile(STAKES, guesses)
    height = (gain + STAKES * centre + np.log(PRIOR)).reshape(flat) + math.log(alpha / guesses)
    total: Array = (height / stakes).max(axis=-1)
    for _ in range(_NEWTON_STEPS):
        exponents = height - stakes * total[..., np.newaxis]
        top = exponents.max(axis=-1)
        shares = np.exp(exponents - top[..., np.newaxis])
        sums = shares.sum(axis=-1)
        total = total + np.maximum(top + np.log(sums), 0.0) * sums / (shares @ stakes)
    return total


class SumBounds(NamedTuple):
    """A sum with its bounds: after all rows so far, or one entry for each time."""

    value: Array
    low: Array
    high: Array
    rows: Array
    asked: Array
    skipped: Array
    known: Array
    """The sum of the scores that were answered."""

    def at(self, times: NDArray[np.int64]) -> "SumBounds":
        return SumBounds(*(column[times] for column in self))


class ConfidenceSequence:
    """Rows come in the order of the stream, with scores in [0, 1].

    The bettor's guess of a score is the average so far, among rows asked with about the same probability
    (where questions are chosen well, errors are rare where questions are). If guesses are `given` too, known
    before the draw of their row, half of the money follows them: good ones narrow the bounds, bad ones cost
    little.
    """

    def __init__(self, bet: Bet, given: bool = False) -> None:
        self.bet, self.given = bet, given
        # Of the bettor on a large sum and of the one on a small one: gain and centre, by guess and stake
        self._wealth = np.zeros((2, 2, 1 + given, len(STAKES)))
        self._answers = np.zeros((2, _KINDS))  # how many, and the sum of their scores
        self._sums = np.zeros(5)  # the estimate; rows, asked, skipped; known

    def add(self, probability: Array, asked: Flags, score: Array, guess: Array | None = None) -> None:
        """Add rows. A score of NaN where a row was asked for means no answer: the worst is assumed."""
        for part in _pieces(probability, asked, score, guess):
            sums, wealth = self._count(*part)
            self._sums, self._wealth = sums.sum(axis=0), wealth.sum(axis=2)

    def path(
        self, probability: Array, asked: Flags, score: Array, guess: Array | None, alpha: float
    ) -> SumBounds:
        """Add rows, and return the bounds before them and after each of them."""
        path = [SumBounds(*(column[np.newaxis] for column in self.bounds(alpha)))]
        for part in _pieces(probability, asked, score, guess):
            sums, wealth = self._count(*part)
            sums, wealth = np.cumsum(sums, axis=0), np.cumsum(wealth, axis=2)
            self._sums, self._wealth = sums[-1], wealth[:, :, -1]
            path.append(self._bounds(sums[1:].T, wealth[:, :, 1:], alpha))
        return SumBounds(*(np.concatenate(columns) for columns in zip(*path, strict=True)))

    def bounds(self, alpha: float) -> SumBounds:
        """The bounds now. Each of the two is ever wrong with probability at most α/2."""
        return self._bounds(self._sums, self._wealth, alpha)

    def _bounds(self, sums: Array, wealth: Array, alpha: float) -> SumBounds:
        value, rows, asked, skipped, known = sums
        size = rows if self.bet.asked_too else rows - asked + skipped
        least, least_lack = (lower_bound(gain, centre, alpha / 2.0) for gain, centre in wealth)
        low, high = np.clip(least, 0.0, size), np.clip(size - least_lack, 0.0, size)
        high = np.maximum(low, high)
        return SumBounds(np.clip(value, low, high), low, high, rows, asked, skipped, known)

    def _count(
        self, probability: Array, asked: Flags, score: Array, guess: Array | None
    ) -> tuple[Array, Array]:
        """The sums and the wealth so far, and after them what each row adds: pieces add up to the same."""
        answered = asked & ~np.isnan(score)
        guesses = self._means(probability, answered, score)[:, np.newaxis]
        if guess is not None:
            guesses = np.column_stack([guesses, guess])
        # The estimate follows the best guess there is; a row without an answer counts as its guess.
        best = guesses[:, -1]
        if self.bet.asked_too:
            estimate = best + np.where(answered, (score - best) / probability, 0.0)
        else:
            estimate = np.where(answered, (score - best) * (1.0 / probability - 1.0), best)
        known = np.where(answered, score, 0.0)
        sums = np.column_stack([estimate, np.ones(len(asked)), asked, asked & ~answered, known])
        wealth = np.zeros((2, 2, len(asked) + 1, *self._wealth.shape[2:]))
        wealth[:, :, 0] = self._wealth
        self._bet(probability, asked, known, guesses, *wealth[0, :, 1:])
        self._bet(probability, asked, np.where(answered, 1.0 - score, 0.0), 1.0 - guesses, *wealth[1, :, 1:])
        return np.vstack([self._sums, sums]), wealth

    def _bet(
        self, probability: Array, asked: Flags, score: Array, guesses: Array, gains: Array, centres: Array
    ) -> None:
        """Fill in what each row adds to the wealth of one bettor."""
        column = probability[:, np.newaxis, np.newaxis]
        np.minimum(guesses[:, :, np.newaxis], self.bet.room(column) / STAKES, out=centres)
        surprise = STAKES * (score[asked, np.newaxis, np.newaxis] - centres[asked])
        gains[asked] = self.bet.gain(surprise, column[asked])
        if not self.bet.asked_too:
            centres[asked] = 0.0

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
    """The mean from counts and sums, with a prior that counts as one answer: never outside [0, 1]."""
    return np.minimum((answers[:, 1] + prior) / (answers[:, 0] + 1.0), 1.0)
