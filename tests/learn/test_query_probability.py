"""Columns of query probabilities beside their slow twin, and the bound that gives a share of questions."""

import numpy as np
import pytest

from steelyard.learn import query_probability


def slow(g: float, b: float, c1: float, c2: float) -> float:
    """By halving s until its own equation gives g."""
    if g <= b**0.5 + b:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(200):
        s = 0.5 * (low + high)
        if (c1 / s**0.5 - c1 + 1.0) * b**0.5 + (c2 / s - c2 + 1.0) * b > g:
            low = s
        else:
            high = s
    return high


@pytest.mark.parametrize("constants", [(1.0, 1.0), (5.0 + 8.0**0.5, 5.0)])
def test_probabilities_are_those_of_the_slow_twin(constants: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    g, b = 10.0 ** rng.uniform(-6, 2, 200), 10.0 ** rng.uniform(-8, 1, 200)
    out = np.empty(200)
    query_probability.fill(g, b, *constants, out)
    np.testing.assert_allclose(out, [slow(x, y, *constants) for x, y in zip(g, b, strict=True)], rtol=1e-9)
    query_probability.fill(
        np.array([np.inf, np.inf, 1e308]), np.array([1.0, np.inf, 1e-9]), *constants, out[:3]
    )
    np.testing.assert_allclose(out[:3], [0.0, 1.0, 0.0], atol=1e-150)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.7])
def test_the_bound_gives_the_share(share: float) -> None:
    g = 10.0 ** np.random.default_rng(1).uniform(-4, 0, 256)
    b = query_probability.bound_for(share, g, 0.01, 1.0, 1.0, -50.0, 10.0, 40)
    out = np.empty(256)
    query_probability.fill(g, np.full(256, b), 1.0, 1.0, out)
    assert np.maximum(out, 0.01).mean() == pytest.approx(share, rel=1e-6)
