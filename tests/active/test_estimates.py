"""Estimates by hand: what each is of, and that none can be had in a way that flatters."""

import re

import numpy as np
import pytest

from steelyard.active.estimates import (
    MEASURES,
    Estimate,
    RunningEstimate,
    current,
    pool,
    progressive,
    risk_of_look,
)
from steelyard.active.label_sample import LabelSample, from_labels, from_losses

LABEL = np.tile([1.0, 1.0, 0.0, 0.0, 1.0], 400)
PREDICTED = np.tile([True, True, True, False, False], 400)
TRUTHS = {"error": 0.4, "loss": 0.4, "precision": 2 / 3, "recall": 2 / 3}


def all_asked() -> LabelSample:
    return from_labels(np.ones(2000), np.ones(2000), LABEL, PREDICTED)


def half_asked(chance: bool = False) -> LabelSample:
    asked = np.random.default_rng(0).random(2000) < 0.5
    return from_labels(
        np.full(2000, 0.5), asked, LABEL, PREDICTED, np.where(PREDICTED, 0.7, 0.4) if chance else None
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_predictions_of_which_all_is_known(measure: str) -> None:
    for found in (progressive(all_asked(), measure), current(all_asked(), np.zeros(2000), measure)):
        assert found.value == pytest.approx(TRUTHS[measure], abs=0.002)
        assert found.low < TRUTHS[measure] < found.high
        assert found.width < 0.2


@pytest.mark.parametrize("measure", MEASURES)
def test_a_pool_of_which_all_is_answered_is_right(measure: str) -> None:
    found = pool(all_asked(), measure)
    right = 0.0 if measure in ("error", "loss") else 1.0
    assert (found.value, found.low, found.high) == (right, right, right)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("chance", [False, True])
def test_a_pool_of_which_half_is_answered(measure: str, chance: bool) -> None:
    draws = half_asked(chance)
    found = pool(draws, measure)
    handed = np.where(draws.asked, LABEL == 1.0, PREDICTED)
    hits = (handed & (LABEL == 1.0)).sum()
    truth = {
        "error": (handed != (LABEL == 1.0)).mean(),
        "loss": (handed != (LABEL == 1.0)).mean(),
        "precision": hits / handed.sum(),
        "recall": hits / LABEL.sum(),
    }[measure]
    assert found.low < truth < found.high
    assert found.value == pytest.approx(truth, abs=0.04)
    assert found.width < progressive(draws, measure).width


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("of", ["progressive", "pool"])
def test_row_by_row_is_the_same(measure: str, of: str) -> None:
    draws = half_asked(chance=True)
    at_once, path = RunningEstimate(of, measure), RunningEstimate(of, measure)
    at_once.add(draws)
    found = at_once.estimate()
    interval = path.path(draws)
    assert len(interval.low) == 2001
    assert (interval.low[0], interval.high[0]) == (0.0, 1.0)
    assert np.isnan(interval.value[0])
    np.testing.assert_allclose(
        [each[-1] for each in interval], (found.value, found.low, found.high), rtol=1e-12
    )
    assert (found.rows, found.asked, found.skipped) == (2000, int(draws.asked.sum()), 0)


def test_rows_not_reached_yet_may_be_anything() -> None:
    draws = half_asked()
    assert pool(draws, size=2000) == pool(draws)
    part = pool(draws, size=4000)
    assert part.low == pytest.approx(pool(draws).low / 2)
    assert part.high == pytest.approx((pool(draws).high + 1.0) / 2)
    assert pool(draws, "precision", size=4000) == pool(draws, "precision")
    found = draws.asked @ LABEL + (~draws.asked & PREDICTED) @ LABEL
    assert pool(draws, "recall", size=4000).low < found / (LABEL.sum() + 2000)
    assert pool(draws, "recall", size=4000).high == pool(draws, "recall").high
    running = RunningEstimate("pool", size=2500)
    running.add(draws)
    with pytest.raises(
        ValueError, match="the pool has 2,500 rows, but 4,000 were added: each row is added once"
    ):
        running.add(draws)


def test_found_by_answers_alone() -> None:
    """As in reviews: nothing counts as found that nobody has read."""
    random = np.random.default_rng(1)
    likely = np.arange(20_000) < 1000
    relevant = np.where(likely, random.random(20_000) < 0.5, random.random(20_000) < 0.001)
    probability = np.where(likely, 1.0, 0.05)
    asked = random.random(20_000) < probability
    found = pool(from_labels(probability, asked, relevant), "recall")
    assert found.low < (relevant & asked).sum() / relevant.sum() < found.high
    assert found.low > 0.7


def test_a_second_pass_starts_from_what_was_answered() -> None:
    first = half_asked()
    random = np.random.default_rng(2)
    probability = np.where(first.asked, 1.0, 0.5)
    asked = first.asked | (random.random(2000) < 0.5)
    both = pool(from_labels(probability, asked, LABEL, PREDICTED), look=2)
    assert both.low < ((LABEL == 1.0) != PREDICTED)[~asked].sum() / 2000 < both.high
    assert both.width < pool(first).width


def test_skipped_questions_are_at_their_worst() -> None:
    draws = half_asked()
    answers = np.where(np.arange(2000) % 10 == 0, np.nan, LABEL)
    fewer = from_labels(draws.probability, draws.asked, answers, PREDICTED)
    for of in (progressive, pool):
        for measure in MEASURES:
            found, full = of(fewer, measure), of(draws, measure)
            assert found.skipped > 50
            assert found.width > full.width
            assert found.low <= found.value <= found.high
    assert "not answered, counted at their worst" in str(progressive(fewer))
    nobody = from_labels([0.5] * 4, [1, 1, 0, 0], [np.nan] * 4, [1, 0, 1, 0])
    for measure in MEASURES:
        assert pool(nobody, measure).high == 1.0
        assert pool(nobody, measure).low == 0.0


def test_losses_come_in_their_own_units() -> None:
    loss = np.tile([0.0, 1.0, 3.0, 0.0], 500)
    found = progressive(from_losses(np.ones(2000), np.ones(2000), loss, largest=5.0), "loss")
    assert found.value == pytest.approx(1.0, abs=0.01)
    assert 0.8 < found.low < 1.0 < found.high < 1.25
    reviewed = RunningEstimate("pool", "recall")
    reviewed.add(from_labels([0.5], [True], [1.0]))
    with pytest.raises(ValueError, match="guesses and predictions must come with all rows or with none"):
        reviewed.add(half_asked())
    running = RunningEstimate("progressive", "loss")
    running.add(from_losses([1.0], [1], [5.0], largest=5.0))
    for other in (from_losses([1.0], [1], [1.0]), from_losses([1.0], [1], [1.0], [1.0], largest=5.0)):
        with pytest.raises(ValueError, match="guesses and predictions must come with all rows or with none"):
            running.add(other)


def test_before_the_first_row_nothing_is_known() -> None:
    for found in (RunningEstimate("progressive").estimate(), pool(from_labels([], [], []), "recall")):
        assert np.isnan(found.value)
        assert (found.low, found.high, found.rows) == (0.0, 1.0, 0)
        assert ": unknown (95 % interval 0.000–1.000, valid at any stopping time" in str(found)


def test_a_model_is_not_scored_on_what_it_learned() -> None:
    learned = np.zeros(2000)
    learned[7] = 1
    with pytest.raises(ValueError, match="row 7 was learned by the model that scored it"):
        current(all_asked(), learned)
    with pytest.raises(ValueError, match=re.escape("there are 2,000 rows, but 'learned' has the shape (3,)")):
        current(all_asked(), [0, 0, 0])


def test_later_looks_are_wider_and_all_looks_together_keep_the_level() -> None:
    widths = [current(all_asked(), np.zeros(2000), look=look).width for look in (1, 2, 10, 100)]
    assert sorted(widths) == widths
    assert widths[-1] < 1.6 * widths[0]
    assert sum(risk_of_look(0.05, look) for look in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)
    with pytest.raises(ValueError, match="looks are numbered from 1; got 0"):
        risk_of_look(0.05, 0)


def test_levels() -> None:
    assert progressive(all_asked(), level=0.99).width > progressive(all_asked()).width
    with pytest.raises(ValueError, match="the level of confidence must lie between 0 and 1"):
        progressive(all_asked(), level=95)


def test_names_that_are_not() -> None:
    with pytest.raises(
        ValueError, match="no measure 'recal'; did you mean 'recall'\\?; there are error, loss"
    ):
        RunningEstimate("pool", "recal")
    with pytest.raises(ValueError, match="no estimate of 'past'; there are progressive, current, pool"):
        RunningEstimate("past")
    with pytest.raises(
        ValueError, match="recall needs labels of two classes: make the sample with `from_labels`"
    ):
        pool(from_losses([1.0], [1], [1.0]), "recall")


def test_an_estimate_speaks() -> None:
    found = Estimate("pool", "recall", 0.9, 0.8, 0.95, 0.95, 1, 1, 0)
    assert str(found) == (
        "pool recall: 0.900 (95 % interval 0.800–0.950, valid at any stopping time; 1 of 1 row asked)"
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_rows_that_are_gone_need_no_prediction(measure: str) -> None:
    draws = half_asked()
    known = np.where(draws.asked, PREDICTED, np.nan)
    found = current(from_labels(draws.probability, draws.asked, LABEL, known), np.zeros(2000), measure)
    full = current(draws, np.zeros(2000), measure)
    assert found.low < TRUTHS[measure] < found.high
    assert found.value == pytest.approx(TRUTHS[measure], abs=0.05)
    assert found.width >= full.width
