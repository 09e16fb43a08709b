"""Where words end: a pass over the text that finds every blank, so that readers need not look for the next.

A reader that finds the end of one word only when it has read it begins the next one no sooner. With all
ends known the processor works at several words at once.
"""

import numpy as np

from steelyard.numba_tools.jit import kernel
from steelyard.text.byte_masks import beyond_ascii, blanks, population
from steelyard.text.lines import NEWLINE, is_gap
from steelyard.text.swar import address, byte, trailing_zeros

SPARE = 8  # places that are written at once, needed or not
_ONE = np.uint64(1)


@kernel
def find(text, end, stops):
    """Write where the blanks of text[:end] are: (how many, whether all is ASCII).

    A blank is a space, a tab, a return or a newline; `stops` needs room for `end` of them and SPARE more.
    """
    bytes_at = address(text)
    count = np.int64(0)
    high = np.uint64(0)
    i = np.int64(0)
    while i + 64 <= end:
        found = blanks(bytes_at, i)
        high |= beyond_ascii(bytes_at, i)
        total = np.int64(population(found))
        # a fixed number of steps, which is mostly enough, rather than one that nobody can foresee
        for k in range(SPARE):
            stops[count + k] = i + np.int64(trailing_zeros(found))
            found &= found - _ONE
        for k in range(SPARE, total):
            stops[count + k] = i + np.int64(trailing_zeros(found))
            found &= found - _ONE
        count += total
        i += 64
    while i < end:
        if is_gap(byte(bytes_at, i)) or byte(bytes_at, i) == NEWLINE:
            stops[count] = i
            count += 1
        high |= np.uint64(byte(bytes_at, i) > 127)
        i += 1
    return count, high == 0


@kernel
def up_to(stops, count, last):
    """How many of the stops are not beyond `last`."""
    while count > 0 and stops[count - 1] > last:
        count -= 1
    return count
