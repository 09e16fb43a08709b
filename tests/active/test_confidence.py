"""Sequences: paths, pieces, guesses, missing answers, extreme sizes."""

import numpy as np
import pytest

from steelyard.active.confidence import Sequence, Standing
from steelyard.active.laws import COINS, RISK, Law
from steelyard.active.wealth import Array

Columns = tuple[Array, np.ndarray, Array, Array]


def rows(count: int, wrong: float = 0.1, probability: float = 0.2, seed: int = 0) -> Columns:
    random = np.random.default_rng(seed)
    p = random.uniform(0.5, 1.0, count) * probability
    asked = random.random(count) < p
    score = (random.random(count) < wrong).astype(float)
    return p, asked, np.where(asked, score, np.nan), np.clip(wrong + 0.2 * (score - wrong), 0.0, 1.0)


def after(law: Law, columns: Columns, given: bool = False) -> Standing:
    sequence = Sequence(law, given)
    sequence.add(*(columns if given else columns[:3]))
    return sequence.standing(0.05)


@pytest.mark.parametrize("law", [RISK, COINS])
@pytest.mark.parametrize("given", [False, True])
def test_pieces_of_any_size_and_paths_come_to_the_same(law: Law, given: bool) -> None:
    columns = rows(5000)
    whole = after(law, columns, given)
    pieces, steps = Sequence(law, given), Sequence(law, given)
    guess = columns[3] if given else None
    for start in (*range(50), *range(50, 5000, 990)):
        part = slice(start, start + (1 if start < 50 else 990))
        own = None if guess is None else guess[part]
        pieces.add(columns[0][part], columns[1][part], columns[2][part], own)
    path = steps.path(*columns[:3], guess, 0.05)
    np.testing.assert_array_equal(np.array(whole), np.array(pieces.standing(0.05)))
    np.testing.assert_allclose(np.array(path)[:, -1], np.array(whole), rtol=1e-12)
    np.testing.assert_array_equal(np.array(path)[:, -1], np.array(steps.standing(0.05)))
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


@pytest.mark.parametrize("law", [RISK, COINS])
def test_good_guesses_narrow_and_bad_ones_cost_little(law: Law) -> None:
    p, asked, score, _ = rows(20_000, 0.3, 0.3)
    truth = np.where(asked, np.nan_to_num(score), np.random.default_rng(1).random(20_000) < 0.3)

    def width(guess: Array | None) -> float:
        sequence = Sequence(law, guess is not None)
        sequence.add(p, asked, score, guess)
        found = sequence.standing(0.05)
        return float(found.high - found.low)

    plain = width(None)
    assert width(0.1 + 0.8 * truth) < 0.6 * plain
    assert width(1.0 - truth) < 1.1 * plain


def test_what_was_asked_for_sure_is_no_longer_uncertain() -> None:
    score = np.array([0.0, 1.0, 0.25])
    found = after(COINS, (np.ones(3), np.ones(3, bool), score, score))
    assert [float(each) for each in (found.value, found.low, found.high, found.known)] == [
        0.0,
        0.0,
        0.0,
        1.25,
    ]


@pytest.mark.parametrize("law", [RISK, COINS])
def test_missing_answers_are_taken_at_their_worst(law: Law) -> None:
    p, asked, score, guess = rows(3000, 0.3, 0.3)
    skipped = asked & (np.random.default_rng(2).random(3000) < 0.2)
    found = after(law, (p, asked, np.where(skipped, np.nan, score), guess))
    ends = [after(law, (p, asked, np.where(skipped, worst, score), guess)) for worst in (0.0, 1.0)]
    lost = skipped.sum() if law is COINS else 0  # those rows are still open, whatever they are
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
