"""Hulls of trials."""

import math

import numpy as np

from steelyard.active.curves import hull, needed


def test_the_hull_is_below_every_trial_and_bends_one_way() -> None:
    rng = np.random.default_rng(0)
    fractions = rng.random(300)
    errors = 0.05 + 0.3 * np.exp(-5.0 * fractions) + 0.2 * rng.random(300)
    corners = hull(fractions, errors)
    assert len(corners) >= 3
    slopes = np.diff(corners[:, 1]) / np.diff(corners[:, 0])
    assert (slopes < 0.0).all()
    assert (np.diff(slopes) > 0.0).all()
    beneath = np.interp(fractions, corners[:, 0], corners[:, 1])
    assert (errors >= beneath - 1e-12).all()
    for corner in corners:
        assert corner.tolist() in np.stack((fractions, errors), axis=1).tolist()


def test_trials_at_one_place() -> None:
    np.testing.assert_array_equal(hull(np.full(3, 0.5), np.array([0.3, 0.1, 0.2])), [[0.5, 0.1]])


def test_how_many_labels_were_needed() -> None:
    fractions, errors = np.array([0.1, 0.2, 0.4]), np.array([0.3, 0.08, 0.05])
    assert needed(fractions, errors, 0.08) == 0.2
    assert math.isnan(needed(fractions, errors, 0.01))
