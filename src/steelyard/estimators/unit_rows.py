"""Rows that were brought to length 1, as `TfidfVectorizer`, `HashingVectorizer` and `Normalizer` do.

Their columns have been made comparable: that a rare word counts for more than a common one, and a word of a
short text for more than one of a long text, is what those values say. A unit for each column would undo that.
So all of them have one unit, as words of a file have. Multiply a column by a number, and rows are no longer
of length 1: columns have units of their own again, as in all other data.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import Examples

_LOOKED_AT = 256  # rows: by chance not even a few would have that length
_NEAR = 1e-4  # of 1, the sum of squares of float32


def own_units(rows: Examples) -> NDArray[np.int64] | None:
    """For `Engine.know_units`: no feature has its own if rows have length 1; None if every one has."""
    return np.empty(0, np.int64) if _have_length_1(rows) else None


def _have_length_1(rows: Examples) -> bool:
    """Whether the first rows with a weight are sparse and have length 1, some with more than one value."""
    if rows.dense:
        return False
    first = rows.take(np.flatnonzero(rows.sample_weight)[:_LOOKED_AT])
    row = np.repeat(np.arange(len(first)), np.diff(first.indptr))
    squares = np.bincount(row, first.values.astype(np.float64) ** 2, len(first))
    counts = np.bincount(row[first.values != 0.0], minlength=len(first))
    normal = np.abs(squares - 1.0) <= _NEAR
    return bool(np.all(normal | (counts == 0)) and np.any(normal & (counts > 1)))
