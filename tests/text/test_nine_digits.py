"""Numbers with nine digits, beside Python's own."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.native.declare import PLAIN
from steelyard.text import nine_digits

few = settings(deadline=None, max_examples=100 if PLAIN else 500)
halves = st.integers(0, 10**9).map(lambda n: (n + 0.5) / 1e9)  # as near to the middle of two as may be
exact_halves = st.integers(1, 2**12).map(lambda n: n / 2**12)
near_steps = st.builds(
    lambda power, step: float(np.nextafter(10.0**power, step)),
    st.integers(-6, 1),
    st.sampled_from([0.0, 2.0]),
)
numbers = st.floats(0.0, 1.0) | st.floats(1e-5, 1e-2) | st.floats() | halves | exact_halves | near_steps


def written(values: list[float]) -> list[bytes]:
    with np.errstate(over="ignore"):
        text, starts, stops = nine_digits.write(np.array(values, np.float64))
    return [text[start:stop].tobytes() for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


@few
@given(st.lists(numbers, max_size=5))
@example([0.099999999996, 0.99999999996, 0.0099999999996, 1.0, 0.5, 0.00012, 0.000100000000049])
@example([0.0, -0.0, -0.25, 1e-5, 123456789.0, 1e300, float("nan"), float("inf")])
def test_it_is_what_python_writes(values: list[float]) -> None:
    assert written(values) == [b"%.9g" % value for value in values]


@pytest.mark.parametrize("bits", [10, 11, 29, 30])
def test_ties_go_to_the_even_digit(bits: int) -> None:
    """Odd numbers by a power of two have as many digits as that power, the last of which is a 5."""
    values = [(2 * k + 1) / 2**bits for k in range(0, 2 ** (bits - 1), max(1, 2 ** (bits - 9)))]
    assert written(values) == [b"%.9g" % value for value in values]


def test_a_column_of_a_table_need_not_lie_side_by_side() -> None:
    table = np.array([[0.25, 0.75], [0.125, 0.875]])
    text, starts, stops = nine_digits.write(table[:, 1])
    assert text[starts[1] : stops[1]].tobytes() == b"0.875"
