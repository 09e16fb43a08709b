"""Sums of weights, beside those of NumPy."""

import numpy as np
import pytest

from steelyard.learn import weight_sums
from steelyard.learn.weight_sums import LARGEST, SIZE, SQUARES, TOTAL


@pytest.mark.parametrize("cut", [0, 1, 4, 9])
def test_sums_of_weights(cut: int) -> None:
    weights = np.array([0.0, 2.0, 0.5, 0.0, 8.0, 8.0, 1e-3, 0.0, 3.0])
    sums = np.zeros(SIZE)
    places = [weight_sums.add(part, sums) for part in (weights[:cut], weights[cut:])]
    assert sums[TOTAL] == pytest.approx(weights.sum(), rel=1e-15)
    assert sums[SQUARES] == pytest.approx(np.sum((weights / 8.0) ** 2), rel=1e-15)
    assert sums[LARGEST] == 8.0
    assert 4 in (places[0], places[1] + cut)
