"""What one row is worth to a bettor: two laws, for two kinds of sums.

A row comes with the probability P with which its label was asked for, a guess g of its score ℓ, both known
before the coin fell, and, if asked, with ℓ in [0, 1]. Every law has a centre g for the rows that it sums,
and a gain for the rows that were asked. Bets are on *large* sums; for small ones bet on 1 − ℓ.

`RISK` sums the means μ of the scores given the past, whatever they are and however they change:

    E[1 + λ·asked·(ℓ − g)/P] = 1 + λ(μ − g) ≤ exp(λ(μ − g))

so gain = log(1 + λ(ℓ − g)/P), and nothing for a row that was not asked. It needs λg ≤ P. It holds as well
if μ is the score itself, rows and labels taken as given: one interval for the risk of the models and for
their record.

`COINS` sums the scores of the rows that were *not* asked, rows and labels taken as given; only coins are
random. With the factor exp(−λ(ℓ − g)) where not asked, and where asked

    A = (1 − (1 − P)·exp(−λ(ℓ − g)))/P,   the mean is  P·A + (1 − P)·exp(−λ(ℓ − g)) = 1 exactly.

gain = log A; it needs λg ≤ −log(1 − P). A row with P = 1 adds no uncertainty at all. (A row that was asked
but not answered belongs to the sum as well, as anything from 0 to 1.)

A guess that the stake does not allow is cut down: that costs width, never validity.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard.active.wealth import Array

BOLDNESS = 0.9  # of the largest guess that a stake allows: at 1, a single score of 0 would ruin the bettor


@dataclass(frozen=True)
class Law:
    room: Callable[[Array], Array]
    """The largest product of stake and guess, given P."""
    gain: Callable[[Array, Array], Array]
    """Of an asked row, given λ(ℓ − g) and P."""
    asked_too: bool
    """Whether the rows that were asked are part of the sum."""


def _risk_gain(stake: Array, probability: Array) -> Array:
    return np.log1p(stake / probability)


def _coins_room(probability: Array) -> Array:
    with np.errstate(divide="ignore"):  # P = 1: any guess will do
        return -BOLDNESS * np.log1p(-probability)


def _coins_gain(stake: Array, probability: Array) -> Array:
    return np.log1p((1.0 / probability - 1.0) * -np.expm1(-stake))


RISK = Law(lambda probability: BOLDNESS * probability, _risk_gain, asked_too=True)
COINS = Law(_coins_room, _coins_gain, asked_too=False)
