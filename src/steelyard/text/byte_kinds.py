"""The table of `token_rules` as kernels take it: which bytes are letters or blanks, and bytes in lower case."""

import numpy as np
from numpy.typing import NDArray

from steelyard.token_rules import ASCII, Ranges, bytes_in

FIRST_CAPITAL, LAST_CAPITAL = ASCII.capitals
TO_SMALL = ASCII.to_small
CHARACTER_SALT = ASCII.character_salt
MISSING_WORD = np.frombuffer(ASCII.missing.encode(), np.uint8)


def _membership(ranges: Ranges) -> NDArray[np.bool_]:
    """Tell for each byte whether it is in the ranges."""
    found = np.zeros(256, np.bool_)
    found[list(bytes_in(ranges))] = True
    return found


LETTERS, BLANKS = _membership(ASCII.letters), _membership(ASCII.blanks)
SMALL = np.array([ASCII.small(byte) for byte in range(256)], np.uint8)
SMALL_LETTERS = np.where(LETTERS, SMALL, np.uint8(0))
"""A letter or digit in lower case, 0 for anything else."""
PLAIN = np.where(BLANKS, np.uint8(ord(" ")), SMALL)
"""Any byte as it is hashed among characters."""
