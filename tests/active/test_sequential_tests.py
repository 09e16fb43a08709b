"""Certificates beside slow twins, exact probabilities in small sets, and wrong ones at the boundary."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from steelyard.active import sequential_tests
from steelyard.active.sequential_tests import (
    RecallTest,
    ShareTest,
    attempt_alpha,
    error_below,
    plan,
    planned,
    precision_at_least,
    share_evidence,
)


def bets_on_shares(bad: list[bool], rows: int, least: int) -> list[float]:
    """The slow twin: after every draw, a bet at the price of the claim on what the mixture expects."""
    edge = math.asin(math.sqrt(least / rows))
    points = [math.sin((i + 0.5) / 64 * edge) ** 2 for i in range(64)]
    mixture = [(min(math.floor(point * rows), least - 1), Fraction(1, 64)) for point in points]
    path, found = [], 0
    money: Any = Fraction(1)
    for draws, is_bad in enumerate(bad):
        left = rows - draws
        total = sum(weight for _, weight in mixture)
        expected = sum(weight * Fraction(count - found, left) for count, weight in mixture) / total
        price = Fraction(least - found, left)
        money *= expected / price if is_bad else (1 - expected) / (1 - price)
        chances = [Fraction(count - found if is_bad else left - count + found, left) for count, _ in mixture]
        mixture = [(count, weight * chance) for (count, weight), chance in zip(mixture, chances, strict=True)]
        found += is_bad
        path.append(float(money))
    return path


def test_the_likelihood_ratio_is_a_product_of_bets() -> None:
    bad = np.random.default_rng(0).permutation(np.arange(60) < 5)[:40].tolist()
    test, found = ShareTest(60, 12), []
    for each in bad:
        test.add(bad=each)
        found.append(test.evidence)
    np.testing.assert_allclose(found, bets_on_shares(bad, 60, 12), rtol=1e-9)


@pytest.mark.parametrize(("rows", "least"), [(9, 3), (8, 1), (7, 5), (6, 6)])
def test_exact_probabilities_in_small_sets(rows: int, least: int) -> None:
    """Over all orders: worth 1 on average at the edge of the claim, less inside, and rarely ever 1/α."""
    draws = np.arange(1, rows + 1)
    for truth in range(least, rows + 1):
        paths = []
        for places in combinations(range(rows), truth):
            bad = np.isin(np.arange(rows), places)
            paths.append(np.exp(share_evidence(draws, np.cumsum(bad), rows, least)))
        evidence = np.array(paths)
        assert (evidence.mean(axis=0) <= 1.0 + 1e-9).all()
        before = draws - 1 < rows - truth  # until then no order is excluded
        if truth == least:
            np.testing.assert_allclose(evidence.mean(axis=0)[before], 1.0)
        for alpha in (0.05, 0.2, 0.5):
            assert np.mean(evidence.max(axis=1) >= 1.0 / alpha) <= alpha


def reviews(relevant: tuple[bool, ...], every: int) -> Iterator[tuple[float, list[tuple[bool, bool]]]]:
    """All reviews with their probabilities: each `every`-th row is read in order, the others are picked."""
    todo: list[tuple[float, list[int], list[tuple[bool, bool]]]] = [(1.0, list(range(len(relevant))), [])]
    while todo:
        chance, unread, read = todo.pop()
        if not unread:
            yield chance, read
        elif len(read) % every == 0:
            todo.append((chance, unread[1:], [*read, (relevant[unread[0]], False)]))
        else:
            for row in unread:
                rest = [other for other in unread if other != row]
                todo.append((chance / len(unread), rest, [*read, (relevant[row], True)]))


@pytest.mark.parametrize("every", [2, 3])
@pytest.mark.parametrize("relevant", [(1, 1, 0, 0, 1, 0, 0), (1, 0, 0, 0, 0, 0, 1), (0, 1, 1, 1, 0, 1, 1)])
def test_exact_probabilities_of_recall(relevant: tuple[bool, ...], every: int) -> None:
    total, worth = sum(relevant), 0.0
    wrong = dict.fromkeys([(0.5, 0.2), (0.8, 0.3), (0.9, 0.5)], 0.0)
    for chance, read in reviews(relevant, every):
        tests = {key: RecallTest(key[0], len(relevant), key[1]) for key in wrong}
        for key, test in tests.items():
            for is_relevant, picked in read:
                test.add(relevant=is_relevant, picked=picked)
                if test.passed:
                    wrong[key] += chance * (test.found < key[0] * total)
                    break
        one = RecallTest(0.9, len(relevant), 1e-9)
        for is_relevant, picked in read[:4]:
            one.add(relevant=is_relevant, picked=picked)
        worth += chance * math.exp(one.log_evidence(total))
        levels = [one.log_evidence(claim) for claim in range(one.found, len(relevant) + 1)]
        assert levels == sorted(levels)  # the evidence grows with the claim
    if total < 4:
        assert worth == pytest.approx(1.0)
    assert worth <= 1.0 + 1e-9  # less where a pick could not miss: then it can only lose
    assert all(share <= alpha for (_, alpha), share in wrong.items())


def test_what_is_certain_is_certified() -> None:
    test = error_below(0.5, rows=10)
    for _ in range(6):
        test.add(bad=False)
    assert test.passed
    assert test.evidence == math.inf
    for _ in range(4):
        test.add(bad=True)
    assert test.passed
    assert not test.hopeless
    with pytest.raises(ValueError, match="all 10 rows were drawn already"):
        test.add(bad=True)
    lost = error_below(0.2, rows=10)
    lost.add(bad=True)
    lost.add(bad=True)
    assert lost.hopeless
    assert lost.evidence == 0.0
    assert not lost.passed
    whole = RecallTest(0.9, 3)
    for relevant in (True, False, False):
        assert not whole.passed
        whole.add(relevant=relevant, picked=False)
    assert whole.passed
    with pytest.raises(ValueError, match="all 3 rows were read already"):
        whole.add(relevant=False, picked=True)


def test_targets_are_taken_as_they_are_written() -> None:
    assert error_below(0.07, rows=100).least == 7  # 0.07 · 100 is a little more than 7 in floating point
    assert precision_at_least(0.9, rows=100).least == 11
    assert precision_at_least(0.85, rows=7).least == 2
    review = RecallTest(0.7, 100)
    for _ in range(7):
        review.add(relevant=True, picked=False)
    assert review.claim == 11
    assert attempt_alpha(0.05, 2) == pytest.approx(0.05 / 6.0)
    for bad in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="must lie between 0 and 1"):
            error_below(bad, rows=10)
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        RecallTest(0.9, 10, alpha=1.0)


def slow_plan(rows: int, least: int, likely: int, alpha: float, power: float) -> tuple[int, int]:
    def few(most: int, draws: int, bad: int) -> float:
        ways = sum(math.comb(bad, k) * math.comb(rows - bad, draws - k) for k in range(most + 1))
        return ways / math.comb(rows, draws)

    for draws in range(1, rows + 1):
        allowed = [most for most in range(min(draws, least)) if few(most, draws, least) <= alpha]
        if allowed and few(allowed[-1], draws, likely) >= power:
            return draws, allowed[-1]
    raise AssertionError


@pytest.mark.parametrize(("error", "expected"), [(0.2, 0.05), (0.1, 0.04), (0.3, 0.28), (0.15, 0.0)])
def test_plans_are_the_smallest(error: float, expected: float) -> None:
    found = plan(100, error, expected)
    least, likely = round(100 * error), round(100 * expected)
    assert (found.labels, found.most_bad) == slow_plan(100, least, likely, 0.05, 0.9)
    assert found.power >= 0.9
    with pytest.raises(ValueError, match="cannot be expected to pass"):
        plan(100, error, error)


def test_a_plan_for_many_rows_is_that_of_clopper_and_pearson() -> None:
    found = plan(10**7, 0.05, 0.02)
    tail = [math.comb(found.labels, k) * 0.05**k * 0.95 ** (found.labels - k) for k in range(50)]
    assert sum(tail[: found.most_bad + 1]) == pytest.approx(0.05, abs=0.01)
    assert sum(tail[: found.most_bad + 2]) > 0.05


def test_wrong_certificates_are_rare_at_the_boundary() -> None:
    """400 and 200 times, looking after every label; `benchmarks.active.certificates` does more."""
    rng = np.random.default_rng(1)
    draws = np.arange(1, 401)
    wrong = 0
    for _ in range(400):
        bad = np.cumsum(rng.permutation(np.arange(1000) < 50)[:400])
        wrong += bool((share_evidence(draws, bad, 1000, 50) >= math.log(20.0)).any())
    assert wrong <= 20 + 3 * math.sqrt(19.0)
    wrong = 0
    for _ in range(200):  # the ranking has found 17 of 20, a recall of 0.85; then picks only
        test = RecallTest(0.9, 137, alpha=0.2)
        for _ in range(17):
            test.add(relevant=True, picked=False)
        for relevant in rng.permutation(np.arange(120) < 3):
            test.add(relevant=bool(relevant), picked=True)
            if test.passed or test.found >= 18:
                break
        wrong += test.passed and test.found < 18
    assert wrong <= 40 + 3 * math.sqrt(32.0)


def test_the_money_is_spread_once() -> None:
    assert sequential_tests._SHARES.sum() == pytest.approx(1.0)
    assert (sequential_tests._BETS < 1.0).all()


def test_a_planned_test_is_looked_at_once() -> None:
    test = planned("precision", 0.9, 500, 0.05, expected=0.98)
    assert test.plan == plan(500, 0.102, 0.02)  # at least 51 of 500 are bad: precision below 0.9
    for _ in range(test.plan.labels):
        assert not test.passed
        test.add(bad=False)
    assert test.passed
    with pytest.raises(ValueError, match="labels of the plan were drawn already"):
        test.add(bad=False)
    other = planned("error", 0.1, 500, 0.05, expected=0.02)
    for _ in range(other.plan.most_bad + 1):
        assert not other.hopeless
        other.add(bad=True)
    assert other.hopeless
    assert not other.passed


def test_forecasts_come_true_if_all_stays_as_seen() -> None:
    test = error_below(0.1, 1000)
    for draw in range(40):
        test.add(bad=draw % 20 == 0)
    left = test.forecast()
    assert left is not None
    for draw in range(40, 40 + left + 20):
        if test.passed:
            break
        test.add(bad=draw % 20 == 0)
    assert abs(test.draws - 40 - left) <= 20
    assert test.forecast() == 0
    bad = error_below(0.1, 100)
    for _ in range(5):
        bad.add(bad=True)
    assert bad.forecast() is None
    fixed = planned("error", 0.1, 1000, 0.05, 0.03)
    fixed.add(bad=True)
    assert fixed.forecast() == fixed.plan.labels - 1
    for _ in range(fixed.plan.most_bad):
        fixed.add(bad=True)
    assert fixed.forecast() is None


@pytest.mark.parametrize(("rows", "found"), [(500, 9), (12, 9), (9000, 1)])
def test_forecasts_of_recall_are_exact_if_nothing_is_found(rows: int, found: int) -> None:
    test = RecallTest(0.8, rows)
    for _ in range(found):
        test.add(relevant=True, picked=False)
    left = test.forecast()
    assert left > 0
    for _ in range(left):
        assert not test.passed
        test.add(relevant=False, picked=True)
    assert test.passed
    assert test.forecast() == 0
