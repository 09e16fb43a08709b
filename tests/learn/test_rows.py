"""Loops over rows that learn nothing, against the obvious way to do it."""

import numpy as np
import pytest

from steelyard import losses
from steelyard.learn import rows
from steelyard.learn.rows import fill_pairs, fill_scalar
from steelyard.native.methods import pointer

POINTERS = np.array([0, 3, 3, 5])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("indices", "good"),
    [
        ([0, 2, 4, 1, 3], True),
        ([0, 2, 5, 1, 3], False),  # too large
        ([-1, 2, 4, 1, 3], False),
        ([0, 2, 4, 3, 1], False),  # not increasing
        ([0, 2, 2, 1, 3], False),  # twice
    ],
)
def test_increasing_within(indices: list[int], good: bool, dtype: type) -> None:
    assert rows.increasing_within(POINTERS, np.array(indices, dtype), 5) == good


def test_increasing_within_many_rows() -> None:
    """More rows than are looked at together, some of them empty: one wrong index anywhere is found."""
    random = np.random.default_rng(0)
    lengths = random.integers(0, 5, 300)
    lengths[[0, 127, 128, 299]] = [0, 3, 3, 3]
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.sort(random.choice(9, length, replace=False)) for length in lengths])
    assert rows.increasing_within(pointers, indices, 9)
    for row in np.flatnonzero(lengths >= 2):
        wrong = indices.copy()
        wrong[pointers[row] + 1] = wrong[pointers[row]]
        assert not rows.increasing_within(pointers, wrong, 9)


def test_first_bad_index() -> None:
    assert rows.first_bad_index(np.array([0, 2, 1]), 3) == -1
    assert rows.first_bad_index(np.array([0, 3, -1]), 3) == 1
    assert rows.first_bad_index(np.array([0, 2, -1]), 3) == 2


def test_has_duplicates() -> None:
    assert not rows.has_duplicates(POINTERS, np.array([4, 0, 2, 3, 0]), np.full(5, -1))
    assert rows.has_duplicates(POINTERS, np.array([4, 0, 4, 3, 0]), np.full(5, -1))


@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, np.uint32), (np.float64, np.uint64)])
def test_sizes(dtype: type, bits: type) -> None:
    mask = bits(np.iinfo(bits).max >> 1)
    for values in ([0.0, -3.5, 2.0], [1e-30, -0.0], [-0.0], [1.0, -np.inf], [np.nan, 5.0], []):
        array: np.ndarray = np.array(values, dtype)
        smallest, largest = np.array(rows.sizes(array.view(bits), mask), bits).view(dtype)
        absolute = np.abs(array[array != 0.0])
        assert smallest == np.nanmin(absolute, initial=np.inf) or (len(absolute) == 0 and smallest == 0.0)
        if np.isnan(array).any():
            assert np.isnan(largest)
        else:
            assert largest == absolute.max(initial=0.0)


def test_fill_is_the_method_one_by_one() -> None:
    loss = losses.by_name("logistic")
    predictions = np.linspace(-5.0, 5.0, 11)
    out = np.empty(11)
    fill_scalar(pointer(loss, "value"), predictions, 1.0, out)
    np.testing.assert_allclose(out, [loss.value(p, 1.0) for p in predictions], rtol=1e-15)


def test_fill_pairs_has_a_label_for_each() -> None:
    loss = losses.by_name("squared")
    predictions, labels = np.linspace(-5.0, 5.0, 11), np.linspace(3.0, -3.0, 11)
    out = np.empty(11)
    fill_pairs(pointer(loss, "value"), predictions, labels, out)
    np.testing.assert_allclose(out, 0.5 * (predictions - labels) ** 2, rtol=1e-15)
