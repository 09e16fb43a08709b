"""Levels, beside `math.frexp`; of the clock, which levels of time there are."""

import math
from typing import Any

import numpy as np
import pytest

from steelyard.learn import levels
from steelyard.native.declare import part
from tests.support.naive_clock import NaiveClock, off_edges
from tests.support.naive_clock import level_of as naive_level_of
from tests.support.parts import callable_part

level_scale, octave = callable_part(levels.level_scale), callable_part(levels.octave)
time_width = callable_part(levels.time_width)


def _levels(x: Any) -> Any:
    return levels.level_of(x), levels.level_start(levels.level_of(x))  # type: ignore[no-untyped-call]


def _there_and_back(x: Any) -> Any:
    return levels.to_bits(x), levels.from_bits(levels.to_bits(x))  # type: ignore[no-untyped-call]


both = callable_part(part(_levels))
there_and_back = callable_part(part(_there_and_back))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_four_levels_an_octave(dtype: type[np.floating]) -> None:
    """Compiled, and as Python reads it."""
    rng = np.random.default_rng(0)
    numbers = 2.0 ** rng.uniform(-125.0, 126.0, 500)
    for number in [*numbers, 1.0, 1.25, 4.0, np.nextafter(1.25, 0.0), 1.2e-38, 1e38]:
        x = dtype(number)
        mantissa, exponent = math.frexp(float(x))
        start = math.ldexp(math.floor(mantissa * 8.0) / 8.0, exponent)
        middle = start + math.ldexp(1.0, exponent - 4)
        for found in (both(x), _levels(x)):
            assert [float(each) for each in found] == [middle, start]
        assert naive_level_of(float(x)) == middle
        assert type(_levels(x)[0]) is dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_are_in_the_order_of_their_numbers(dtype: type[np.floating]) -> None:
    numbers = [
        dtype(x)
        for x in (0.0, 1e-45, 1.2e-38, 0.5, 1.0, np.nextafter(dtype(1.0), dtype(2.0)), 1e38, math.inf)
    ]
    for function in (there_and_back, _there_and_back):
        bits, back = zip(*map(function, numbers), strict=True)
        assert list(back) == numbers
        assert sorted(set(bits)) == list(bits)


def test_a_level_ends_where_the_next_begins() -> None:
    middle, start = both(7.3)
    end = middle + (middle - start)
    assert both(np.nextafter(end, 0.0)) == (middle, start)
    assert both(end)[1] == end


@pytest.mark.parametrize("steep", [1.0, 0.9, 3.0, 1e-200, 1e200, 1e100])
def test_labels_in_other_units_have_the_same_levels(steep: float) -> None:
    """Squares in units of the labels are as many times as steep: their levels are as many times as large."""
    scale = level_scale(steep)
    assert 1.0 < scale <= 2.5
    if 1e-100 < steep < 1e101:
        assert scale == pytest.approx(off_edges(steep), rel=1e-14)
        ratio = naive_level_of(scale * 3.7 * steep**2) / (naive_level_of(level_scale(1.0) * 3.7))
        assert math.frexp(ratio)[0] == 0.5


def test_natural_values_are_not_on_the_edge_of_a_level() -> None:
    for value in (1.0, 2.0, 4.0, 1.25, 1.5, 1.75, 9.0, 25.0, 0.81):
        scaled = level_scale(1.0) * value
        assert {both(scaled * (1.0 + e)) for e in (-1e-9, 0.0, 1e-9)} == {both(scaled)}


def test_every_epoch_belongs_to_one_level_of_time() -> None:
    """One of its own below 128, then 64 an octave, each power of two a beginning."""
    clock = NaiveClock()
    for epoch in [*range(200), 1023, 1024, 1055, 1056, 2**40 - 1, 2**40, 10**15]:
        clock.epoch = epoch
        first, width = clock.level
        assert time_width(float(epoch)) == width
        assert first <= epoch < first + width
        assert octave(float(epoch)) == (math.floor(math.log2(epoch)) + 1 if epoch else 0)
        assert width == 1 if epoch < 128 else epoch / 128 < width <= epoch / 64
        assert first == epoch or epoch & (epoch - 1)
