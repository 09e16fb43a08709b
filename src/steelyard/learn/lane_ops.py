"""The visits of a row to the weights of its features, in many lanes: to sum them up, and to move them.

What is summed, or moved by, stays in registers from feature to feature. There is room for four vectors; and
a row then finds its weights in the nearest cache when it comes to move them. Which weights the next row will
want is known: they are sent for while this one reckons.
"""

import numpy as np

from steelyard.learn.vectors import LANES, fetch_ahead, load, plus_product, store, zeros
from steelyard.numba_tools.jit import part


def _abreast(count):
    """The visits for as many vectors of lanes, from the lane `first` on."""

    @part
    def sum_up(start, end, base, indices, values, flat, stride, first, totals):
        total = zeros(flat, count)
        for j in range(start, end):
            i = np.uint64(indices[j - base]) * stride + first
            total = plus_product(total, load(flat, i, count), flat.dtype.type(values[j]))
        store(totals, first, total)

    @part
    def move(start, end, base, indices, values, flat, stride, first, moves):
        factors = load(moves, first, count)
        for j in range(start, end):
            i = np.uint64(indices[j - base]) * stride + first
            store(flat, i, plus_product(load(flat, i, count), factors, flat.dtype.type(values[j])))

    @part
    def announce(start, end, base, indices, flat, stride, first):
        for j in range(start, end):
            fetch_ahead(flat, np.uint64(indices[j - base]) * stride + first, count)

    return sum_up, move, announce


_sum_up_1, _move_1, _announce_1 = _abreast(1)
_sum_up_2, _move_2, _announce_2 = _abreast(2)
_sum_up_3, _move_3, _announce_3 = _abreast(3)
_sum_up_4, _move_4, _announce_4 = _abreast(4)
_ONE, _TWO, _THREE, _FOUR = (np.uint64(count * LANES) for count in (1, 2, 3, 4))


@part
def dots(start, end, base, indices, values, flat, stride, lanes, totals):
    """w·x of all lanes into `totals`."""
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
    """The weights of these lanes, by `moves` times x."""
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
def announce(turn, rows, indptr, dense, indices, flat, stride, lanes):
    """The row of this turn, if there is one, to the caches."""
    if turn < np.uint64(len(rows)):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        k = np.uint64(0)
        while k + _FOUR <= lanes:
            _announce_4(start, end, base, indices, flat, stride, k)
            k += _FOUR
        rest = lanes - k
        if rest == _ONE:
            _announce_1(start, end, base, indices, flat, stride, k)
        elif rest == _TWO:
            _announce_2(start, end, base, indices, flat, stride, k)
        elif rest == _THREE:
            _announce_3(start, end, base, indices, flat, stride, k)


@part
def squares(start, end, values, flat):
    """x·x, of numbers of the type of the weights."""
    total = 0.0
    for j in range(start, end):
        x = np.float64(flat.dtype.type(values[j]))
        total += x * x
    return total
