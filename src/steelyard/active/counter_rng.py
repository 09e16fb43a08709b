"""Counter-based random numbers: a function of a seed and a counter, so there is no state to save.

A run that resumes at example k draws the numbers it would have drawn there, in chunks of any size.
"""

import numpy as np
from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def uniform(seed: int, purpose: int, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """A number in [0, 1) for each counter: the mixing function of SplitMix64 (Steele, Lea, Flood 2014).

    Different purposes give independent numbers.
    """
    with np.errstate(over="ignore"):
        key = _mixed(_mixed(np.array([seed % 2**64], np.uint64)) + np.uint64(purpose) * _STEP)
        bits = _mixed(key + numbers.astype(np.uint64) * _STEP) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def order(seed: int, purpose: int, count: int) -> NDArray[np.int64]:
    """The numbers from 0 to count − 1 in a random order."""
    return np.argsort(uniform(seed, purpose, np.arange(count)), kind="stable")


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = z + _STEP
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed
