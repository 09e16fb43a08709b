"""The names of features in Vowpal Wabbit's text, as they are shown: `namespace^name`."""

import numpy as np

from steelyard.numba_tools.jit import kernel
from steelyard.text.byte_masks import bars
from steelyard.text.lines import BAR, COLON, is_gap
from steelyard.text.swar import address, byte
from steelyard.text.vw import ends_name


@kernel
def compose(text, starts, places, out, lengths):
    """Names as `namespace^name`, those of crosses joined by `*`, one after another into `out`.

    With an `out` of size 0 they are only measured. Returns the size of all.
    """
    size = 0
    bar = last = np.int64(0)
    for k in range(len(places)):
        before = size
        for position in range(places.shape[1]):
            if places[k, position] < 0:
                break
            if position > 0:
                size = _append(text, -1, -1, 42, out, size)
            start = starts[places[k, position]]
            bar = _bar_before(text, start, bar, last)
            last = start
            space_end = bar + 1
            while not is_gap(text[space_end]) and text[space_end] != COLON:
                space_end += 1
            if space_end > bar + 1 and space_end < start:
                size = _append(text, bar + 1, space_end, 94, out, size)
            end = start
            while not ends_name(text[end]):
                end += 1
            size = _append(text, start, end, -1, out, size)
        lengths[k] = size - before
    return size


@kernel
def _bar_before(text, start, known, last):
    """The bar that a feature stands behind; `known` is that of an earlier one at `last`, often nearby."""
    first = last if last <= start else np.int64(0)
    bytes_at = address(text)
    i = np.int64(start)
    while i - 64 >= first and bars(bytes_at, i - 64) == 0:
        i -= 64
    while i > first:
        i -= 1
        if byte(bytes_at, i) == BAR:
            return i
    return known


@kernel
def _append(text, start, end, then, out, size):
    """text[start:end], and then one more character unless that is −1."""
    for i in range(start, end):
        if len(out):
            out[size] = text[i]
        size += 1
    if then >= 0:
        if len(out):
            out[size] = then
        size += 1
    return size
