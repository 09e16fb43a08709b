"""A schedule times a factor: read at every call, compiled once, never shared by two who learn."""

from typing import Any

import numpy as np
import pytest

from steelyard.kernels import scaled
from steelyard.kernels.jit import kernel
from steelyard.schedules import PowerDecay

SCHEDULE = PowerDecay(learning_rate=0.5, initial_t=2.0, power_t=0.5)


@kernel  # type: ignore[untyped-decorator]
def pushes(push: Any, times: Any) -> Any:
    sums = np.empty(len(times))
    for i in range(len(times)):
        sums[i] = push(times[i], 3.0)
    return sums


@pytest.mark.parametrize("method", ["frozen", "integral"])
def test_the_factor_may_change(method: str) -> None:
    times = np.array([0.0, 1.0, 10.0])
    plain = np.array([getattr(SCHEDULE, method)(t, 3.0) for t in times])
    with scaled.pointer(SCHEDULE, method) as (push, multiply_by):
        np.testing.assert_allclose(pushes(push, times), plain, rtol=1e-15)
        for factor in (1e-9, 7.0, 0.0):
            multiply_by(factor)
            np.testing.assert_allclose(pushes(push, times), factor * plain, rtol=1e-15)


def test_two_at_a_time_do_not_disturb_each_other() -> None:
    times = np.zeros(1)
    with (
        scaled.pointer(SCHEDULE, "frozen") as (one, first),
        scaled.pointer(SCHEDULE, "frozen") as (two, second),
    ):
        first(2.0)
        second(3.0)
        assert pushes(one, times) == pytest.approx(2.0 * 1.5)
        assert pushes(two, times) == pytest.approx(3.0 * 1.5)


def test_what_is_given_back_is_used_again() -> None:
    with scaled.pointer(SCHEDULE, "frozen"):
        cells = len(scaled._free)
    with pytest.raises(RuntimeError), scaled.pointer(SCHEDULE, "frozen") as (_, multiply_by):  # noqa: PT012
        assert len(scaled._free) == cells
        multiply_by(7.0)
        raise RuntimeError("something goes wrong while learning")
    assert len(scaled._free) == cells + 1
    with scaled.pointer(SCHEDULE, "frozen") as (push, _):
        assert pushes(push, np.zeros(1)) == pytest.approx(1.5)
