"""The least sum that bets leave standing: the root of an equation, approached from the safe side."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

from steelyard.active.wealth import PRIOR, STAKES, Wealth, least


def log_wealth(gain: np.ndarray, centre: np.ndarray, total: float) -> float:
    return float(logsumexp(gain + STAKES * (centre - total), b=np.tile(PRIOR / len(gain), (len(gain), 1))))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_root_and_never_beyond(seed: int) -> None:
    random = np.random.default_rng(seed)
    gain, centre = random.normal(0.0, 30.0, (2, len(STAKES))), random.uniform(0.0, 1e4, (2, len(STAKES)))
    found = float(least(gain, centre, 0.05))
    root = brentq(lambda s: log_wealth(gain, centre, s) - np.log(20.0), -1e8, 1e8, xtol=1e-9)
    assert found == pytest.approx(root, rel=1e-6)
    assert found <= root + 1e-6
    assert float(least(gain, centre, 0.01)) < found


def test_nothing_is_known_of_nothing() -> None:
    assert Wealth(1).least(0.05) < 0.0


def test_pieces_add_up_to_the_same() -> None:
    random = np.random.default_rng(0)
    gains, centres = random.normal(size=(50, 1, len(STAKES))), random.uniform(size=(50, 1, len(STAKES)))
    whole, pieces, steps = Wealth(1), Wealth(1), Wealth(1)
    whole.add(gains, centres)
    for start in range(0, 50, 7):
        pieces.add(gains[start : start + 7], centres[start : start + 7])
    path = steps.path(gains, centres, 0.05)
    np.testing.assert_array_equal(whole.gain, pieces.gain)
    np.testing.assert_array_equal(whole.centre, pieces.centre)
    assert len(path) == 50
    assert path[-1] == whole.least(0.05) == steps.least(0.05)
