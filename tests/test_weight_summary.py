"""The diagnosis of weights: its numbers, its merging, and when it speaks up."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from steelyard import weight_summary
from steelyard.weight_summary import WeightWarning, summarise

WEIGHTS = st.lists(st.sampled_from([0.0, 1e-12, 0.3, 1.0, 50.0, 1e5]), max_size=30)


def one_heavy(rows: int, weight: float) -> NDArray[np.float64]:
    weights = np.ones(rows)
    weights[17] = weight
    return weights


def test_numbers() -> None:
    summary = summarise(np.array([0.0, 1.0, 3.0, 2.0]))
    assert (summary.rows, summary.nonzero, summary.total) == (4, 3, 6.0)
    assert (summary.largest, summary.largest_row, summary.largest_share) == (3.0, 2, 0.5)
    assert summary.effective_sample_size == pytest.approx(36 / 14)


@pytest.mark.parametrize("weights", [[], [0.0], [0.0, 0.0]])
def test_no_weight_at_all(weights: list[float]) -> None:
    summary = summarise(np.array(weights))
    assert (summary.rows, summary.nonzero, summary.total, summary.largest_row) == (len(weights), 0, 0.0, -1)
    assert summary.effective_sample_size == summary.largest_share == 0.0
    assert summary.warning is None


def test_squares_do_not_overflow() -> None:
    assert summarise(np.full(10, 1e300)).effective_sample_size == pytest.approx(10.0)


@settings(deadline=None, derandomize=True, database=None)
@given(WEIGHTS, WEIGHTS)
def test_two_chunks_are_one(first: list[float], second: list[float]) -> None:
    """To the bit."""
    whole = summarise(np.array(first + second))
    assert summarise(np.array(first)).followed_by(np.array(second)) == whole
    weights = np.array(first + second)
    assert whole.total == pytest.approx(weights.sum())
    if weights.any():
        relative = weights / weights.max()
        assert whole.squares == pytest.approx(relative @ relative)
        assert whole.largest_row == weights.argmax()


def test_repr_can_be_read() -> None:
    assert repr(summarise(one_heavy(1000, 1e6))) == (
        "WeightSummary(rows=1000, nonzero=1000, total=1.001e+06, effective_sample_size=1, "
        "largest_share=0.999, largest_row=17)"
    )


ALARMING = {
    "one row of 100": one_heavy(100, 50.0),
    "one row of a million": one_heavy(1_000_000, 1e6),
    "five rows of 10,000": np.r_[np.full(5, 1e6), np.ones(9_995)],
    "log-normal, far too wide": np.exp(np.random.default_rng(0).normal(scale=5.0, size=20_000)),
}
HARMLESS = {
    "uniform": np.full(100_000, 7.0),
    "20 rows": one_heavy(20, 1e9),
    "99 rows with a weight": np.r_[np.zeros(100_000), one_heavy(99, 1e9)],
    "one in twenty weighs 10⁵": np.where(np.arange(100_000) % 20 == 0, 1e5, 1.0),
    "one in a hundred, balanced": np.where(np.arange(100_000) % 100 == 0, 99.0, 1.0),
    "one row of 10,000 weighs 500": one_heavy(10_000, 500.0),
    "weights from 0 to 1": np.random.default_rng(0).random(1000),
    "log-normal": np.exp(np.random.default_rng(0).normal(size=1000)),
    "few of very many, yet 1000": np.r_[np.full(1000, 1e9), np.ones(1_000_000)],
}


@pytest.mark.parametrize("weights", ALARMING.values(), ids=ALARMING)
def test_alarm(weights: NDArray[np.float64]) -> None:
    summary = summarise(weights)
    with pytest.warns(WeightWarning, match=f"row {summary.largest_row} .*cap the largest weights"):
        weight_summary.warn(summary)


@pytest.mark.parametrize("weights", HARMLESS.values(), ids=HARMLESS)
def test_no_alarm(weights: NDArray[np.float64]) -> None:
    weight_summary.warn(summarise(weights))


@pytest.mark.parametrize(
    ("rows", "weight", "learned_as"),
    [
        (100, 0.01, 1.0), (100, 1 / 32, 1 / 2), (100, 0.125, 0.125), (99, 1e-9, 1e-9),
        (10_000, 16.0, 16.0), (100, 17.0, 256 / 17), (100, 64.0, 4.0), (100, 256.0, 1.0), (100, 190e3, 1.0),
    ],
)  # fmt: skip
def test_many_rows_whose_weights_are_no_counts(rows: int, weight: float, learned_as: float) -> None:
    factor = weight_summary.factor_for(np.r_[np.full(rows, weight), np.zeros(50)])
    assert factor * weight == pytest.approx(learned_as)


def test_nearly_the_same_weights_are_learned_nearly_the_same() -> None:
    """However weights are multiplied, or one of them changes: no step."""
    draw = np.random.default_rng(0)
    for spread in (0.0, 0.5, 2.0):
        weights = np.exp(spread * draw.normal(size=1001))
        scales = np.exp(np.linspace(np.log(1e-4), np.log(1e5), 4001))
        factors = np.array([weight_summary.factor_for(scale * weights) for scale in scales])
        steps = np.abs(np.diff(np.log(factors * scales)))
        assert steps.max() < 1.001 * np.log(scales[1] / scales[0])


def test_a_few_heavy_rows_are_counts_like_others() -> None:
    assert weight_summary.factor_for(np.r_[np.ones(1000), np.full(20, 1e9)]) == 1.0
    assert weight_summary.factor_for(np.r_[np.full(1000, 0.01), np.full(10, 100.0)]) == 1.0  # their mean is 1
    assert weight_summary.NOTHING.mean == 1.0


def test_the_message_on_the_scale() -> None:
    summary = summarise(np.full(200, 1740.0))
    said = summary.scale_warning("Do this.", 1.0 / 1740.0)
    assert said == (
        "the weights of 200 rows have a mean of 1740, which is unusual for counts of copies, so they were "
        "multiplied by 0.000575, and a row counts 1 on average. Do this."
    )
    assert "learned as that many copies at once. That." in summary.scale_warning("That.")


def test_the_message_names_row_weight_and_share() -> None:
    warning = summarise(one_heavy(1000, 1e6)).warning
    assert warning is not None
    for fact in ("row 17 (weight 1e+06)", "99.9%", "1000 rows", "worth 1 rows", "steelyard.WeightWarning"):
        assert fact in warning


def test_one_alarm_a_stream() -> None:
    heavy = summarise(one_heavy(1000, 1e6))
    weight_summary.warn(heavy.followed_by(np.ones(5)), before=heavy)


def test_the_alarm_points_at_the_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weight_summary.warn(summarise(one_heavy(1000, 1e6)), stacklevel=1)
    assert caught[0].filename == __file__
