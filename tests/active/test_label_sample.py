"""What estimates are made of is looked at first, and what was not asked for is not looked at at all."""

import re
from typing import Any

import numpy as np
import pytest

from steelyard.active.label_sample import from_labels, from_losses


def test_losses_are_shares_of_the_largest() -> None:
    draws = from_losses(
        [0.5, 0.5, 1.0], [1, 0, 1], np.array([3.0, np.inf, None]), guess=[1, 2, 4], largest=4.0
    )
    np.testing.assert_array_equal(draws.loss, [0.75, np.nan, np.nan])
    np.testing.assert_array_equal(draws.guess, [0.25, 0.5, 1.0])
    assert (len(draws), draws.skipped, draws.label) == (3, 1, None)


def test_errors_and_their_guesses_follow_from_labels() -> None:
    draws = from_labels([0.5] * 4, [1, 1, 1, 0], [1, 0, 1, 7], [1, 1, 0, 0], [0.9, 0.8, 0.3, 0.2])
    np.testing.assert_array_equal(draws.loss, [0.0, 1.0, 1.0, np.nan])
    np.testing.assert_allclose(draws.guess, [0.1, 0.2, 0.3, 0.2])  # type: ignore[arg-type]


def test_nothing_is_predicted_unless_said() -> None:
    draws = from_labels([0.5, 0.5], [True, False], [1.0, np.nan])
    assert draws.predicted is None
    np.testing.assert_array_equal(draws.loss, [1.0, np.nan])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.5]], [1], [1]), "probabilities must be a column, one for each row; got 2 dimensions"),
        (([0.5, 0.0], [1, 0], [1, 0]), "row 1 was asked with probability 0.0: .* give .* a floor"),
        (([0.5, 1.1], [1, 0], [1, 0]), "row 1 was asked with probability 1.1"),
        (([0.5, np.nan], [1, 0], [1, 0]), "row 1 was asked with probability nan"),
        (([0.5, 1.0], [1, 0], [1, 0]), "row 1 was not asked, though its probability is 1"),
        (([0.5], [1, 0], [1]), "there are 1 rows, but 'asked' has the shape (2,)"),
        (([0.5], [0.5], [1]), "'asked' must be yes or no"),
        (([0.5], [1], [1, 0]), "there are 1 rows, but 'loss' has the shape (2,)"),
        (([0.5], [1], [1.5]), "row 0 has the loss 1.5: it must be from 0 to 1, or give the largest loss"),
        (([0.5], [1], [-1.0]), "row 0 has the loss -1.0"),
        (([0.5], [1], [1.0], [1, 2]), "there are 1 rows, but 'guess' has the shape (2,)"),
        (([0.5], [1], [1.0], [2.0]), "row 0 has the guess 2.0: it must be from 0 to 1"),
        (([0.5], [1], [1.0], [np.nan]), "row 0 has the guess nan"),
        (([0.5], [1], [1.0], None, 0.0), "the largest loss must be a positive finite number, not 0.0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message if ".*" in message else re.escape(message)):
        from_losses(*arguments)


def test_labels_are_of_two_classes() -> None:
    with pytest.raises(ValueError, match=re.escape("row 1 has the label 0.5: labels must be 1 or 0")):
        from_labels([0.5, 0.5], [1, 1], [1.0, 0.5])
    with pytest.raises(ValueError, match=re.escape("row 0 has the label -1.0: it must be from 0 to 1")):
        from_labels([0.5, 0.5], [1, 1], [-1.0, 1.0])


def test_predictions_of_rows_that_are_gone() -> None:
    nan = np.nan
    draws = from_labels([0.5] * 4, [1, 1, 1, 0], [1, 0, nan, nan], [1, 1, nan, nan])
    assert not draws.everywhere
    assert draws.loss[:2].tolist() == [0.0, 1.0]
    assert draws.skipped == 1
    with pytest.raises(ValueError, match="row 1 was answered, but it has no prediction"):
        from_labels([0.5] * 2, [1, 1], [1, 0], [1, nan])
    with pytest.raises(ValueError, match="a chance needs a prediction of every row"):
        from_labels([0.5] * 2, [1, 0], [1, 0], [1, nan], [0.5, 0.5])
    with pytest.raises(ValueError, match="'predicted' has the shape"):
        from_labels([0.5] * 2, [1, 0], [1, 0], [1, nan, nan])
