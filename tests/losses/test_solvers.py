"""The solvers against mpmath and SciPy, over the whole range of float64."""

import math
import random
from collections.abc import Iterator

import mpmath
import pytest
from mpmath import mp, mpf
from scipy.special import wrightomega

from steelyard.losses import _solvers as solvers


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


def grid(count: int) -> list[tuple[float, float]]:
    rng = random.Random(11)
    pairs = [
        (q, 10.0**k)
        for q in (-700.0, -37.1, -2.0, -1e-9, 0.0, 36.9, 37.1, 700.0)
        for k in range(-300, 301, 25)
    ]
    pairs += [(rng.uniform(-50.0, 50.0), 10.0 ** rng.uniform(-15.0, 5.0)) for _ in range(count)]
    return pairs


def test_logistic_flow() -> None:
    """d + e^q·(e^d − 1) = u, to 1e-15 relative."""
    for q, u in grid(2000):
        d = solvers.logistic_flow(q, u)
        if d > 1e-300:
            residual = mpf(d) + mp.exp(q) * mp.expm1(d) - u
            slope = 1 + mp.exp(mpf(q) + d)
            assert abs(residual / slope) <= 1e-15 * d, (q, u)


def test_logistic_flow_against_wright_omega() -> None:
    for q, u in ((-3.0, 2.0), (0.0, 1.0), (1.0, 40.0), (5.0, 3000.0)):
        z = wrightomega(u + q + math.exp(q))
        assert solvers.logistic_flow(q, u) == pytest.approx(math.log(z) - q, rel=1e-12)


def test_logistic_implicit() -> None:
    """d·(1 + e^(q+d)) = u, to 1e-15 relative."""
    for q, u in grid(2000):
        d = solvers.logistic_implicit(q, u)
        if d > 1e-300:
            z = mp.exp(mpf(q) + d)
            assert abs((d * (1 + z) - u) / (1 + z * (1 + d))) <= 1e-15 * d, (q, u)


def test_lambert_w() -> None:
    for k in range(-3000, 3080, 7):
        x = 10.0 ** (k / 10.0)
        assert abs(solvers.lambert_w(x) - mpmath.lambertw(x).real) <= 1e-15 * mpmath.lambertw(x).real
    for s in (1.0, 2.5, 30.0, 700.0, 1e5, 1e300):
        w = mpf(solvers.lambert_w_of_exp(s))
        assert abs(w + mp.log(w) - s) <= 1e-15 * s


@pytest.mark.parametrize("q", [-1e308, -1e5, -746.0, 746.0, 1e5, 1e308])
@pytest.mark.parametrize("u", [0.0, 5e-324, 1e-300, 1.0, 1e300])
def test_no_exception_beyond_the_range(q: float, u: float) -> None:
    for solve in (solvers.logistic_flow, solvers.logistic_implicit):
        assert 0.0 <= solve(q, u) < math.inf
    assert solvers.logistic_push_for(q, u) >= u


def test_bounded_exp() -> None:
    assert solvers.bounded_exp(1.0) == math.e
    assert solvers.bounded_exp(1e308) == solvers.bounded_exp(709.0) < math.inf
    assert solvers.bounded_exp(-1e308) == 0.0
