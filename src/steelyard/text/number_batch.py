"""Features found but not yet worked out: their digits are turned into numbers for many of them at once.

The reader copies the eight bytes at which each run of digits begins, and how long it is. `settle` then does
the same arithmetic for all, which the compiler turns into operations on vectors. A feature that the
reader has worked out itself waits here too, so that all come out in the order of the text.
"""

import numpy as np

from steelyard.numba_tools.jit import apart, kernel, part
from steelyard.text.hashing import BITS_32
from steelyard.text.swar import EXACT_POWERS, value_of

ROOM = 520  # features; not a power of two, or all columns would compete for the same lines of the cache

# The columns, each of ROOM words: digits of the index, before the point, behind it; what is added to the
# index; and in one word, from its lowest bits, where the colon, the point and the end of the digits are (8
# bits each), by what to divide beside the power of ten for the digits behind the point (8 bits), and where
# in the text the feature begins. Of a feature that is worked out the value stands before the point.
_INDEX, _WHOLE, _BEHIND, _SEED, _PLACES = (np.uint64(k * ROOM) for k in range(5))
SIZE = 5 * ROOM

MINUS = np.uint64(32)  # added to the divisor: the same with a minus
_WORKED_OUT = np.uint64(63)  # for a divisor: the value is known
DIVISORS = np.ones(64)
DIVISORS[:23] = EXACT_POWERS
DIVISORS[32:55] = -EXACT_POWERS

_DIGITS = np.uint64(0x0F0F0F0F0F0F0F0F)


@part
def put(staged, n, start, digits, whole, behind, colon, point, stop, divisor):
    """`index:[-]whole.behind` with one to eight digits before and behind the colon, at place n.

    `digits`, `whole` and `behind` are eight bytes of text each; without a point it says stop = point + 1.
    """
    n = np.uint64(n)
    staged[n + _INDEX] = digits
    staged[n + _WHOLE] = whole
    staged[n + _BEHIND] = behind
    staged[n + _PLACES] = (
        np.uint64(start) << np.uint64(32)
        | divisor << np.uint64(24)
        | stop << np.uint64(16)
        | point << np.uint64(8)
        | colon
    )


@part
def put_valued(staged, n, start, digits, colon, x):
    """An index of one to eight digits whose value is known."""
    point = colon + np.uint64(3)  # as if there were one digit behind a minus
    stop = colon + np.uint64(4)
    value = np.float64(x).view(np.uint64)
    put(staged, n, start, digits, value, np.uint64(0), colon, point, stop, _WORKED_OUT)


@part
def put_known(staged, n, start, key, x):
    """A feature whose key and value are known."""
    put_valued(staged, n, start, np.uint64(0), np.uint64(1), x)
    put_seeds(staged, n, n + 1, key)


@part
def put_seeds(staged, first, end, seed):
    """What is added to the index, for the features of these places."""
    for n in range(np.uint64(first), np.uint64(end)):
        staged[n + _SEED] = np.uint64(seed)


@kernel
def settle(staged, n, first, keys, values, starts):
    """Work out the n features, and put them down from place `first` on."""
    apart()
    first = np.uint64(first)
    eight, low = np.uint64(8), np.uint64(255)
    for k in range(np.uint64(n)):
        places = staged[k + _PLACES]
        colon = places & low
        point = (places >> eight) & low
        stop = (places >> np.uint64(16)) & low
        divisor = (places >> np.uint64(24)) & low
        minus = (divisor >> np.uint64(5)) & np.uint64(1)
        # bits of the digits before the point and behind it
        whole = (point - colon - np.uint64(1) - minus) << np.uint64(3)
        behind = (stop - point - np.uint64(1)) << np.uint64(3)
        index = (staged[k + _INDEX] & _DIGITS) << (np.uint64(64) - (colon << np.uint64(3)))
        keys[first + k] = (value_of(index) + np.int64(staged[k + _SEED])) & BITS_32
        before = (staged[k + _WHOLE] & _DIGITS) << (np.uint64(64) - whole)
        after = ((staged[k + _BEHIND] & _DIGITS) << (np.uint64(56) - behind)) << eight
        m = np.int32(value_of(after | (before >> behind)))
        x = m / DIVISORS[divisor + (behind >> np.uint64(3))]
        values[first + k] = np.uint64(staged[k + _WHOLE]).view(np.float64) if divisor == _WORKED_OUT else x
        starts[first + k] = places >> np.uint64(32)
