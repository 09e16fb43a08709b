"""Confidence sequences: fair bets, valid bounds, pieces, guesses, missing answers, extreme sizes.

Bets are fair by enumeration of everything that can happen, not by simulation.
"""

import itertools
from collections.abc import Sequence as Items

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

from steelyard.active.confidence import (
    BOLDNESS,
    POOL,
    PRIOR,
    RISK,
    STAKES,
    Array,
    Bet,
    ConfidenceSequence,
    SumBounds,
    lower_bound,
)

Columns = tuple[Array, np.ndarray, Array, Array]


def rows(count: int, wrong: float = 0.1, probability: float = 0.2, seed: int = 0) -> Columns:
    random = np.random.default_rng(seed)
    p = random.uniform(0.5, 1.0, count) * probability
    asked = random.random(count) < p
    score = (random.random(count) < wrong).astype(float)
    return p, asked, np.where(asked, score, np.nan), np.clip(wrong + 0.2 * (score - wrong), 0.0, 1.0)


def after(bet: Bet, columns: Columns, given: bool = False) -> SumBounds:
    sequence = ConfidenceSequence(bet, given)
    sequence.add(*(columns if given else columns[:3]))
    return sequence.bounds(0.05)


@pytest.mark.parametrize("bet", [RISK, POOL])
@pytest.mark.parametrize("given", [False, True])
def test_pieces_of_any_size_and_paths_come_to_the_same(bet: Bet, given: bool) -> None:
    columns = rows(5000)
    whole = after(bet, columns, given)
    pieces, steps = ConfidenceSequence(bet, given), ConfidenceSequence(bet, given)
    guess = columns[3] if given else None
    for start in (*range(50), *range(50, 5000, 990)):
        part = slice(start, start + (1 if start < 50 else 990))
        own = None if guess is None else guess[part]
        pieces.add(columns[0][part], columns[1][part], columns[2][part], own)
    path = steps.path(*columns[:3], guess, 0.05)
    np.testing.assert_array_equal(np.array(whole), np.array(pieces.bounds(0.05)))
    np.testing.assert_allclose(np.array(path)[:, -1], np.array(whole), rtol=1e-12)
    np.testing.assert_array_equal(np.array(path)[:, -1], np.array(steps.bounds(0.05)))
    assert len(path.low) == 5001
    assert tuple(path.at(np.array([0])).high) == (0.0,)


def test_width_shrinks_with_the_root_of_the_rows_and_stays_near_the_naive_one() -> None:
    for probability in (1.0, 0.1, 0.02):
        widths = []
        for count in (20_000, 80_000):
            p, asked, score, _ = rows(count, 0.2, probability)
            found = after(RISK, (p, asked, score, p))
            sums = np.where(asked, np.nan_to_num(score), 0.0) / p
            naive = 2 * 1.96 * sums.std() * np.sqrt(count)
            widths.append(float(found.high - found.low) / count)
            assert naive < found.high - found.low < 2.2 * naive
        assert 1.7 < widths[0] / widths[1] < 2.4


@pytest.mark.parametrize("bet", [RISK, POOL])
def test_good_guesses_narrow_and_bad_ones_cost_little(bet: Bet) -> None:
    p, asked, score, _ = rows(20_000, 0.3, 0.3)
    truth = np.where(asked, np.nan_to_num(score), np.random.default_rng(1).random(20_000) < 0.3)

    def width(guess: Array | None) -> float:
        sequence = ConfidenceSequence(bet, guess is not None)
        sequence.add(p, asked, score, guess)
        found = sequence.bounds(0.05)
        return float(found.high - found.low)

    plain = width(None)
    assert width(0.1 + 0.8 * truth) < 0.6 * plain
    assert width(1.0 - truth) < 1.1 * plain


def test_what_was_asked_for_sure_is_no_longer_uncertain() -> None:
    score = np.array([0.0, 1.0, 0.25])
    found = after(POOL, (np.ones(3), np.ones(3, bool), score, score))
    assert [float(each) for each in (found.value, found.low, found.high, found.known)] == [
        0.0,
        0.0,
        0.0,
        1.25,
    ]


@pytest.mark.parametrize("bet", [RISK, POOL])
def test_missing_answers_are_taken_at_their_worst(bet: Bet) -> None:
    p, asked, score, guess = rows(3000, 0.3, 0.3)
    skipped = asked & (np.random.default_rng(2).random(3000) < 0.2)
    found = after(bet, (p, asked, np.where(skipped, np.nan, score), guess))
    ends = [after(bet, (p, asked, np.where(skipped, worst, score), guess)) for worst in (0.0, 1.0)]
    lost = skipped.sum() if bet is POOL else 0  # those rows are still open, whatever they are
    assert found.skipped == skipped.sum()
    assert found.low <= ends[0].low + 1e-9
    assert found.high >= ends[1].high + lost - 1e-9
    assert found.low < found.value < found.high


def test_a_million_rows_at_the_floor() -> None:
    p, asked, score, _ = rows(1_000_000, 0.05, 0.01)
    found = after(RISK, (p, asked, score, p))
    assert found.low < 50_000 < found.high
    assert float(found.high - found.low) < 25_000
    none = after(RISK, (p, asked, np.where(asked, 0.0, np.nan), p))
    assert none.low == 0.0
    assert none.high < 2_500


PROBABILITIES = np.array([0.01, 0.03, 0.1, 0.5, 0.9, 0.999, 1.0])[:, np.newaxis]
LEVELS = np.linspace(0.0, 1.0, 11)


@pytest.mark.parametrize("bet", [RISK, POOL])
@pytest.mark.parametrize("guess", [0.0, 1e-6, 0.05, 0.5, 1.0])
def test_no_single_row_ruins_a_bettor(bet: Bet, guess: float) -> None:
    allowed = np.minimum(guess, bet.room(PROBABILITIES) / STAKES)
    worst = np.exp(bet.gain(STAKES * (0.0 - allowed), PROBABILITIES))
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
    g = np.minimum(guess, POOL.room(PROBABILITIES) / STAKES)
    asked = np.exp(POOL.gain(STAKES * (score - g), PROBABILITIES))
    expected = PROBABILITIES * asked + (1.0 - PROBABILITIES) * np.exp(-STAKES * (score - g))
    np.testing.assert_allclose(expected, 1.0, rtol=1e-9)


def wealths(sequence: ConfidenceSequence, total: float, size: int) -> tuple[float, float]:
    """Of both bettors, against the truth."""
    return tuple(
        float((np.exp(gain + STAKES * (centre - claim)) @ PRIOR).mean())
        for (gain, centre), claim in zip(sequence._wealth, (total, size - total), strict=True)
    )  # type: ignore[return-value]


def _probability(history: Items[tuple[bool, float]]) -> float:
    """A question's chances depend on all answers before."""
    caught = sum(asked and score > 0.5 for asked, score in history)
    return (0.05, 0.6, 0.3, 1.0)[min(caught + len(history) % 2, 3)]


@pytest.mark.parametrize("bet", [RISK, POOL])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("scores", list(itertools.product([0.0, 0.3, 1.0], repeat=3)))
def test_the_whole_game_is_fair(bet: Bet, given: bool, scores: tuple[float, ...]) -> None:
    """Three rows, their scores given, every way in which the coins can fall: nobody gains on average."""
    expected = np.zeros(2)
    for coins in itertools.product([False, True], repeat=3):
        history: list[tuple[bool, float]] = []
        sequence, chance = ConfidenceSequence(bet, given), 1.0
        for asked, score in zip(coins, scores, strict=True):
            p = _probability(history)
            chance *= p if asked else 1.0 - p
            if chance == 0.0:
                break
            guess = np.array([0.2 if history and history[-1][0] else 0.7]) if given else None
            sequence.add(np.array([p]), np.array([asked]), np.array([score if asked else np.nan]), guess)
            history.append((asked, score))
        else:
            summed = [s for s, a in zip(scores, coins, strict=True) if bet.asked_too or not a]
            expected += chance * np.array(wealths(sequence, sum(summed), len(summed)))
    if bet is POOL:
        np.testing.assert_allclose(expected, 1.0, rtol=1e-9)
    else:
        assert (expected <= 1.0 + 1e-9).all()


def log_wealth(gain: np.ndarray, centre: np.ndarray, total: float) -> float:
    return float(logsumexp(gain + STAKES * (centre - total), b=np.tile(PRIOR / len(gain), (len(gain), 1))))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_root_and_never_beyond(seed: int) -> None:
    random = np.random.default_rng(seed)
    gain, centre = random.normal(0.0, 30.0, (2, len(STAKES))), random.uniform(0.0, 1e4, (2, len(STAKES)))
    found = float(lower_bound(gain, centre, 0.05))
    root = brentq(lambda s: log_wealth(gain, centre, s) - np.log(20.0), -1e8, 1e8, xtol=1e-9)
    assert found == pytest.approx(root, rel=1e-6)
    assert found <= root + 1e-6
    assert float(lower_bound(gain, centre, 0.01)) < found


def test_nothing_is_known_of_nothing() -> None:
    nothing = np.zeros((1, len(STAKES)))
    assert lower_bound(nothing, nothing, 0.05) < 0.0
