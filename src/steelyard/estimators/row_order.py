"""In which order `fit` learns the rows: unlike `partial_fit` and files, it has all of them.

Rows sorted by label would teach the last label only, so `fit` shuffles. Rows of weight 0 are absent: they
take no part in the draw.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from steelyard.examples import Examples

Order = NDArray[np.int64]

_COMPARED = 33  # rows, of which the most ordinary one comes first
# Random access to memory takes longer than learning. So of more rows than this, if neighbours have no more in
# common than others, blocks of them are drawn, and rows change places within groups of blocks.
_MANY_ROWS, _BLOCK, _GROUP = 1 << 14, 64, 1 << 10
_ALIKE = 0.75  # neighbours whose labels differ less than this part of what those of others do


def order_of_passes(estimator: Any, rows: Examples) -> Callable[[int], Order] | None:
    """Draws the order for one pass after another; None: they stay as they are."""
    if not estimator.shuffle:
        return None
    random = check_random_state(estimator.random_state)
    present, absent = np.flatnonzero(rows.sample_weight), np.flatnonzero(rows.sample_weight == 0.0)
    in_blocks = len(present) > _MANY_ROWS and _mixed(rows.labels[present])

    def draw(pass_number: int) -> Order:
        order = present[
            _block_permutation(random, len(present)) if in_blocks else random.permutation(len(present))
        ]
        order = _ordinary_first(rows, order) if pass_number == 0 else order
        return np.concatenate([order, absent])

    return draw


def _mixed(labels: NDArray[np.float64]) -> bool:
    """Whether rows are in no order as far as their labels can tell."""
    return bool(np.abs(np.diff(labels)).mean() >= _ALIKE * np.abs(labels - labels[::-1]).mean())


def _block_permutation(random: Any, count: int) -> Order:
    starts = random.permutation(-(-count // _BLOCK)) * _BLOCK
    order: Order = (starts[:, np.newaxis] + np.arange(_BLOCK)).ravel()
    order = order[order < count]
    for first in range(0, count, _GROUP):
        random.shuffle(order[first : first + _GROUP])
    return order


def _ordinary_first(rows: Examples, order: Order) -> Order:
    """The row nearest to the means of the first ones comes first: columns are measured from its values."""
    first = order[:_COMPARED]
    few = rows.take(first)
    places = np.tile(few.indices, len(few)) if few.dense else few.indices
    filled = few.values != 0.0
    indices, seen = np.unique(places[filled], return_counts=True)
    columns = indices[seen == len(few)]
    if not len(columns):
        return order
    own = filled & np.isin(places, columns)
    by_column = np.argsort(places[own], kind="stable")  # within a column the rows stay in order
    values = few.values[own][by_column].astype(np.float64).reshape(len(columns), len(few))
    distances = np.abs(values - values.mean(axis=1, keepdims=True))
    spread = distances.mean(axis=1, keepdims=True)
    best = int(np.argmin((distances / np.where(spread > 0.0, spread, 1.0)).sum(axis=0)))
    return np.concatenate([first[[best]], np.delete(order, best)])
