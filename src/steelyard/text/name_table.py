"""New keys, in the order of the stream: which are the first at their index, the second, or later still."""

import numpy as np

from steelyard.numba_tools.jit import kernel
from steelyard.text.assemble import known


@kernel
def admit(indices, keys, first, second):
    """Enter the keys into the two tables; returns the places of those that were entered, and of the rest."""
    firsts = np.empty(len(indices), np.int64)
    seconds = np.empty(len(indices), np.int64)
    rest = np.empty(len(indices), np.int64)
    n_first = n_second = n_rest = 0
    for k in range(len(indices)):
        index, key = indices[k], known(keys[k])
        if first[index] == key or second[index] == key:
            continue
        if first[index] == 0:
            first[index] = key
            firsts[n_first] = k
            n_first += 1
        elif second[index] == 0:
            second[index] = key
            seconds[n_second] = k
            n_second += 1
        else:
            rest[n_rest] = k
            n_rest += 1
    return firsts[:n_first], seconds[:n_second], rest[:n_rest]
