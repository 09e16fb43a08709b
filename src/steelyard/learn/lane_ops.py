"""Dot products and updates of weights in many lanes, and prefetching.

Sums and moves stay in registers from feature to feature, up to four vectors of them. When a row moves its
weights, they are still in the L1 cache. The weights of the next row are prefetched while the current row is
computed.
"""

import numpy as np

from steelyard.learn.vectors import LANES, add_product, fetch_ahead, load, store, zeros
from steelyard.native.declare import part


def _operations(count):
    """Make the operations for this many vectors of lanes, from the lane `first` on."""

    @part
    def sum_up(start, end, base, indices, values, flat, stride, first, totals):
        total = zeros(flat, count)
        for j in range(start, end):
            i = np.uint64(indices[j - base]) * stride + first
            total = add_product(total, load(flat, i, count), flat.dtype.type(values[j]))
        store(totals, first, total)

    @part
    def move(start, end, base, indices, values, flat, stride, first, moves):
        factors = load(moves, first, count)
        for j in range(start, end):
            i = np.uint64(indices[j - base]) * stride + first
            store(flat, i, add_product(load(flat, i, count), factors, flat.dtype.type(values[j])))

    @part
    def prefetch(start, end, base, indices, flat, stride, first):
        for j in range(start, end):
            fetch_ahead(flat, np.uint64(indices[j - base]) * stride + first, count)

    return sum_up, move, prefetch


_sum_up_1, _move_1, _prefetch_1 = _operations(1)
_sum_up_2, _move_2, _prefetch_2 = _operations(2)
_sum_up_3, _move_3, _prefetch_3 = _operations(3)
_sum_up_4, _move_4, _prefetch_4 = _operations(4)
_ONE, _TWO, _THREE, _FOUR = (np.uint64(count * LANES) for count in (1, 2, 3, 4))


@part
def dots(start, end, base, indices, values, flat, stride, lanes, totals):
    """Fill in `totals`: w·x of each lane."""
    k = np.uint64(0)
    while k + _FOUR <= lanes:
        _sum_up_4(start, end, base, indices, values, flat, stride, k, totals)
        k += _FOUR
    rest = lanes - k
    if rest == _ONE:
        _sum_up_1(start, end, base, indices, values, flat, stride, k, totals)
    elif rest == _TWO:
        _sum_up_2(start, end, base, indices, values, flat, stride, k, totals)
    elif rest == _THREE:
        _sum_up_3(start, end, base, indices, values, flat, stride, k, totals)


@part
def move(start, end, base, indices, values, flat, stride, first, last, moves):
    """Move the weights of these lanes by `moves` times x."""
    k = first
    while k + _FOUR <= last:
        _move_4(start, end, base, indices, values, flat, stride, k, moves)
        k += _FOUR
    rest = last - k
    if rest == _ONE:
        _move_1(start, end, base, indices, values, flat, stride, k, moves)
    elif rest == _TWO:
        _move_2(start, end, base, indices, values, flat, stride, k, moves)
    elif rest == _THREE:
        _move_3(start, end, base, indices, values, flat, stride, k, moves)


@part
def prefetch(turn, rows, indptr, dense, indices, flat, stride, lanes):
    """Prefetch the weights of the row of this turn, if there is one."""
    if turn < np.uint64(len(rows)):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        k = np.uint64(0)
        while k + _FOUR <= lanes:
            _prefetch_4(start, end, base, indices, flat, stride, k)
            k += _FOUR
        rest = lanes - k
        if rest == _ONE:
            _prefetch_1(start, end, base, indices, flat, stride, k)
        elif rest == _TWO:
            _prefetch_2(start, end, base, indices, flat, stride, k)
        elif rest == _THREE:
            _prefetch_3(start, end, base, indices, flat, stride, k)


@part
def squares(start, end, values, flat):
    """Return x·x, with x rounded to the type of the weights."""
    total = 0.0
    for j in range(start, end):
        x = np.float64(flat.dtype.type(values[j]))
        total += x * x
    return total
