"""The clock in all kinds of steps, beside one in fractions; slopes at kinks; what stands still meanwhile."""

from fractions import Fraction

import numpy as np
import pytest

from steelyard import losses
from steelyard.class_balance import new_state
from steelyard.learn import clock
from steelyard.learn.linear import (
    CLOCK,
    FRACTION,
    NORM,
    NORM_START,
    REFERENCE,
    SEEN,
    SEEN_START,
    STATE_SIZE,
    STEEPEST,
)
from steelyard.losses import Loss
from steelyard.native.methods import pointer
from steelyard.schedules import PowerDecay
from tests.support.naive_clock import NaiveClock
from tests.support.parts import callable_part

advance, look_at_time = callable_part(clock.advance), callable_part(clock.look_at_time)
common_factor, slope_at = callable_part(clock.common_factor), callable_part(clock.slope_at)
SCHEDULE = PowerDecay(0.3, 2.0, 0.5)


def moment_of(loss: Loss | None = None, power: int = 8, dtype: str = "float64") -> np.ndarray:
    return clock.new_moment(loss or losses.by_name("squared"), dtype, SCHEDULE, power)


def begun(at: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    now, moment = np.zeros(STATE_SIZE), moment_of()
    now[CLOCK], now[REFERENCE] = at, 1.0
    look_at_time(now, moment)
    return now, moment


@pytest.mark.parametrize("start", [0, 31, 10**4, 10**9])
def test_the_clock_is_the_sum_of_weights(start: int) -> None:
    """Parts that add up to a whole number reach it, whatever rounding says."""
    rng = np.random.default_rng(start)
    now, moment = begun(start)
    naive = NaiveClock()
    naive.epoch = start
    for _ in range(300):
        parts = rng.dirichlet(np.ones(rng.integers(1, 6)))
        for part in parts:
            ended = advance(now, moment, np.zeros(0), part)
            assert ended == naive.advance(Fraction(part))
        assert now[FRACTION] == float(naive.fraction) == 0.0
        assert now[CLOCK] == naive.epoch
    assert now[CLOCK] == start + 300


def test_a_sliver_is_not_an_epoch() -> None:
    now, moment = begun(1e9)
    assert not advance(now, moment, np.zeros(0), 0.25)
    assert advance(now, moment, np.zeros(0), 0.75 - 5e-10)
    assert (now[CLOCK], now[FRACTION]) == (1e9 + 1.0, 0.0)
    assert not advance(now, moment, np.zeros(0), 5e-324)
    assert now[FRACTION] == 5e-324
    assert advance(now, moment, np.zeros(0), 1.0)
    assert (now[CLOCK], now[FRACTION]) == (1e9 + 2.0, 0.0)


def test_what_an_epoch_begins_with_changes_at_whole_numbers() -> None:
    now, moment = begun(30.0)
    now[STEEPEST], now[SEEN], now[NORM] = 5.0, 30.5, 70.0
    assert not advance(now, moment, np.zeros(0), 0.5)
    assert (now[STEEPEST], now[SEEN_START], now[NORM_START]) == (5.0, 0.0, 0.0)
    assert advance(now, moment, np.zeros(0), 0.5)
    assert (now[STEEPEST], now[SEEN_START], now[NORM_START]) == (0.0, 30.5, 70.0)


def test_a_level_of_time_has_one_push_and_one_lateness() -> None:
    now, moment = begun(282.0)  # one of the epochs 280 to 283
    assert moment[clock.UNTIL] == 284.0
    assert moment[clock.PUSHED] == pytest.approx(SCHEDULE.rate(281.5))
    assert moment[clock.LATE] == 282.0**8
    now[SEEN] = 283.0
    advance(now, moment, np.zeros(0), 1.0)
    assert (moment[clock.UNTIL], now[SEEN_START]) == (284.0, 0.0)
    advance(now, moment, np.zeros(0), 1.0)
    assert (moment[clock.UNTIL], now[SEEN_START]) == (288.0, 283.0)


def test_classes_are_looked_up_at_powers_of_two() -> None:
    now, moment = begun(60.0)
    seen = new_state()
    seen[:2] = 61.0, 1.0
    for epoch in range(61, 64):
        advance(now, moment, seen, 1.0)
        assert seen[2] == 1.0, epoch
    advance(now, moment, seen, 1.0)
    assert seen[2] > 1.5


def test_the_mean_norm_is_that_of_before_and_one_row_more() -> None:
    now, _ = begun()
    assert common_factor(now, 4.0, 1.0) == 0.5
    assert common_factor(now, 0.0, 1.0) == 1.0
    now[SEEN_START], now[NORM_START] = 3.0, 12.0
    assert common_factor(now, 4.0, 1.0) == common_factor(now, 4.0, 2.0) == 0.5


KINKS = [("quantile", 2.0, 2.0), ("hinge", 1.0, 1.0), ("modified_huber", 1.0, 1.0), ("squared", 0.5, 0.5)]


@pytest.mark.parametrize(("name", "rest", "y"), KINKS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_slope_where_a_prediction_has_all_but_arrived(
    name: str, rest: float, y: float, dtype: str
) -> None:
    loss = losses.by_name(name)
    moment, derivative = moment_of(loss, dtype=dtype), pointer(loss, "derivative")
    near = {"float64": 1e-12, "float32": 1e-6}[dtype] * (1.0 + rest)
    for side in (-1.0, 1.0):
        for distance in (0.0, 0.5 * near):
            p = rest + side * distance
            assert slope_at(p, 0.0, y, loss.value(p, y), 1.0, moment, derivative) == 0.0
        for distance in (3.0 * near, 1e-2, 1e3):
            p = rest + side * distance
            found = slope_at(p, 0.0, y, loss.value(p, y), 1.0, moment, derivative)
            assert found == pytest.approx(loss.derivative(p, y))


def test_a_loss_without_rest_always_has_a_slope() -> None:
    loss = losses.by_name("logistic")
    derivative = pointer(loss, "derivative")
    for p in (-30.0, 0.0, 30.0):
        assert slope_at(p, 0.0, 1.0, loss.value(p, 1.0), 1.0, moment_of(loss), derivative) == pytest.approx(
            loss.derivative(p, 1.0)
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_bias_far_from_0_is_no_reason_to_rest(dtype: str) -> None:
    """It is known in float64, and so is an offset."""
    loss, still = losses.by_name("squared"), 1e6
    moment, derivative = moment_of(loss, dtype=dtype), pointer(loss, "derivative")
    for p, y in ((still + 2.0, still + 1.99), (still + 2.0, still + 2.0 - 1e-5)):
        assert slope_at(p, still, y, loss.value(p, y), 1.0, moment, derivative) == loss.derivative(p, y)
    assert slope_at(still, still, still + 5e-7, loss.value(0.0, 5e-7), 1.0, moment, derivative) == 0.0
