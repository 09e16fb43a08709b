"""Where the parts of a lane lie, and which features lanes have met."""

import numpy as np
import pytest

from steelyard.learn.lane_parts import COEFFICIENT, GRADIENTS, LAG, UNIT, mark_met, numbers_before


@pytest.mark.parametrize(("singles", "places"), [(1, [0, 1, 2, 3]), (2, [0, 1, 3, 4])])
def test_places(singles: int, places: list[int]) -> None:
    assert [numbers_before(part, singles) for part in (COEFFICIENT, GRADIENTS, UNIT, LAG)] == places


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_feature_is_met_if_any_lane_has_any_of_these_numbers(dtype: str) -> None:
    weights = np.zeros((5, 4, 16), dtype)
    weights[1, 0, 3], weights[3, 3, 15], weights[4, 0, 0] = 0.5, -1e-30, -0.0
    found = np.ones(5, np.bool_)
    mark_met(weights, 0, 4, found)
    assert found.tolist() == [False, True, False, True, False]
    mark_met(weights, 1, 4, found)
    assert found.tolist() == [False, False, False, True, False]
