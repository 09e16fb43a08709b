"""Query probabilities, against sixty digits."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from steelyard.active.strategies import iwal
from steelyard.active.strategies.iwal import CONSTANTS, Constants, query_probability


def exact_confidence(s: mpf, b: mpf, of: Constants) -> mpf:
    """The G of which the probability is s."""
    root, c1, c2 = mp.sqrt(b), mpf(of.c1), mpf(of.c2)
    return (c1 / mp.sqrt(s) - c1 + 1) * root + (c2 / s - c2 + 1) * b


@pytest.mark.parametrize("kind", CONSTANTS)
def test_the_probability_is_the_root_of_its_equation(kind: str) -> None:
    rng = random.Random(1)
    with mp.workdps(60):
        for _ in range(400):
            k = max(2, round(10.0 ** rng.uniform(0.3, 12)))
            c0 = 10.0 ** rng.uniform(-12, 3)
            s = 10.0 ** rng.uniform(-12, 0)
            b = mpf(c0) * mp.log(k) / (k - 1)
            g = exact_confidence(mpf(s), b, CONSTANTS[kind])
            found = float(query_probability(float(g), k, c0, kind))
            # near 1, where P begins to fall, a rounding of G may count some hundred times over
            assert found == pytest.approx(s, rel=1e-12)


@given(
    g=st.floats(0.0, math.inf),
    k=st.floats(1.0, 1e12),
    c0=st.floats(1e-12, 1e3),
    kind=st.sampled_from(sorted(CONSTANTS)),
)
def test_it_is_a_probability_whatever_comes(g: float, k: float, c0: float, kind: str) -> None:
    p = float(query_probability(g, k, c0, kind))
    assert 0.0 <= p <= 1.0
    surer = float(query_probability(2.0 * g, k, c0, kind))
    assert surer <= p
    b = float(iwal.bound(k, c0))
    if g <= math.sqrt(b) + b:
        assert p == 1.0
    if math.isinf(g) and k > 1.0:
        assert p == 0.0


def test_the_first_example_is_always_asked_for() -> None:
    np.testing.assert_array_equal(query_probability([0.0, 1e300, math.inf], 1, 1e-12), 1.0)


def test_columns_of_confidences_and_counts() -> None:
    found = query_probability(np.full(3, 0.1), np.array([10, 1000, 100_000]), 0.1)
    assert np.all(np.diff(found) < 0.0)
