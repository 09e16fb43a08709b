"""The laws are laws: bets are fair, by enumeration of all that can happen and not by simulation."""

import itertools
from collections.abc import Sequence as Items

import numpy as np
import pytest

from steelyard.active.confidence import Sequence
from steelyard.active.laws import BOLDNESS, COINS, RISK, Law
from steelyard.active.wealth import PRIOR, STAKES

PROBABILITIES = np.array([0.01, 0.03, 0.1, 0.5, 0.9, 0.999, 1.0])[:, np.newaxis]
LEVELS = np.linspace(0.0, 1.0, 11)


@pytest.mark.parametrize("law", [RISK, COINS])
@pytest.mark.parametrize("guess", [0.0, 1e-6, 0.05, 0.5, 1.0])
def test_no_single_row_ruins_a_bettor(law: Law, guess: float) -> None:
    allowed = np.minimum(guess, law.room(PROBABILITIES) / STAKES)
    worst = np.exp(law.gain(STAKES * (0.0 - allowed), PROBABILITIES))
    assert worst.min() >= 1.0 - BOLDNESS - 1e-12


@pytest.mark.parametrize("guess", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("mean", LEVELS)
def test_bets_on_risk_are_fair_or_worse(guess: float, mean: float) -> None:
    g = np.minimum(guess, RISK.room(PROBABILITIES) / STAKES)
    for low, high in itertools.combinations(LEVELS, 2):  # scores with two values have the largest spread
        if low <= mean <= high:
            share = (mean - low) / (high - low)
            asked = sum(
                weight * np.exp(RISK.gain(STAKES * (score - g), PROBABILITIES))
                for score, weight in ((low, 1.0 - share), (high, share))
            )
            expected = PROBABILITIES * asked + (1.0 - PROBABILITIES)
            assert (expected <= np.exp(STAKES * (mean - g)) * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("guess", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("score", LEVELS)
def test_bets_on_coins_are_fair(guess: float, score: float) -> None:
    g = np.minimum(guess, COINS.room(PROBABILITIES) / STAKES)
    asked = np.exp(COINS.gain(STAKES * (score - g), PROBABILITIES))
    expected = PROBABILITIES * asked + (1.0 - PROBABILITIES) * np.exp(-STAKES * (score - g))
    np.testing.assert_allclose(expected, 1.0, rtol=1e-9)


def wealths(sequence: Sequence, total: float, size: int) -> tuple[float, float]:
    """Of both bettors, against the truth."""
    return tuple(
        float((np.exp(each.gain + STAKES * (each.centre - claim)) @ PRIOR).mean())
        for each, claim in ((sequence._low, total), (sequence._high, size - total))
    )  # type: ignore[return-value]


def _probability(history: Items[tuple[bool, float]]) -> float:
    """A question's chances depend on all answers before."""
    caught = sum(asked and score > 0.5 for asked, score in history)
    return (0.05, 0.6, 0.3, 1.0)[min(caught + len(history) % 2, 3)]


@pytest.mark.parametrize("law", [RISK, COINS])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("scores", list(itertools.product([0.0, 0.3, 1.0], repeat=3)))
def test_the_whole_game_is_fair(law: Law, given: bool, scores: tuple[float, ...]) -> None:
    """Three rows, their scores given, every way in which the coins can fall: nobody gains on average."""
    expected = np.zeros(2)
    for coins in itertools.product([False, True], repeat=3):
        history: list[tuple[bool, float]] = []
        sequence, chance = Sequence(law, given), 1.0
        for asked, score in zip(coins, scores, strict=True):
            p = _probability(history)
            chance *= p if asked else 1.0 - p
            if chance == 0.0:
                break
            guess = np.array([0.2 if history and history[-1][0] else 0.7]) if given else None
            sequence.add(np.array([p]), np.array([asked]), np.array([score if asked else np.nan]), guess)
            history.append((asked, score))
        else:
            summed = [s for s, a in zip(scores, coins, strict=True) if law.asked_too or not a]
            expected += chance * np.array(wealths(sequence, sum(summed), len(summed)))
    if law is COINS:
        np.testing.assert_allclose(expected, 1.0, rtol=1e-9)
    else:
        assert (expected <= 1.0 + 1e-9).all()
