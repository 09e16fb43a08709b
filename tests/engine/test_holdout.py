"""Which rows are held out: every Nth, or a share drawn from a seed."""

import numpy as np
import pytest

from steelyard.engine import holdout
from steelyard.engine.holdout import Share, marker


@pytest.mark.parametrize("rule", [3, Share(0.3, 7)])
def test_blocks_decide_nothing(rule: holdout.Holdout) -> None:
    whole, cut = marker(rule)(1000), marker(rule)
    np.testing.assert_array_equal(np.concatenate([cut(k) for k in (0, 1, 400, 599)]), whole)


def test_shares_and_seeds() -> None:
    drawn = marker(Share(0.2))(20_000)
    assert drawn.mean() == pytest.approx(0.2, abs=0.01)
    assert (marker(Share(0.2, 1))(20_000) != drawn).any()
    assert np.flatnonzero(marker(4)(10)).tolist() == [3, 7]
    assert not marker(None)(5).any()


def test_what_users_say() -> None:
    assert [holdout.parse(value, 5) for value in (None, 10, np.int64(2), 0.25)] == [
        None,
        10,
        2,
        Share(0.25, 5),
    ]
    assert [holdout.from_json(value) for value in (None, 10, [0.25, 5])] == [None, 10, Share(0.25, 5)]
    for wrong in (1, 0, -0.5, 1.0, 2.5, "10"):
        with pytest.raises(ValueError, match="2 or more, for every Nth row, or between 0 and 1"):
            holdout.parse(wrong)
