"""Bets that a sum is larger than claimed, at many stakes side by side, and the least sum they leave standing.

At stake λ the wealth of a bettor against the claim "the sum is s" is exp(gain + λ·(centre − s)), where gain
and centre grow with every row. If the claim is true this is a nonnegative supermartingale that starts at 1,
and so is the average over stakes: it exceeds 1/α *ever* with probability α at most (Ville's inequality).
The sums with which it exceeds 1/α are ruled out, at every moment at once; they are all those below a root.

Averaging over stakes costs about the logarithm of their number, and spares us from knowing how many rows
there will be and how much they vary (the method of mixtures; Robbins 1970, Howard et al. 2021).
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The best stake is about √(2·log(1/α) / summed variance): from a handful of rows to 10⁹ of them at P = 1 %.
STAKES: Array = 8.0 * np.exp2(-0.5 * np.arange(41.0))
_octaves = (np.log2(STAKES) + 5.0) / 3.0
PRIOR: Array = 1.0 / (1.0 + _octaves**2)  # most of the money where most streams want it
PRIOR /= PRIOR.sum()
_STEPS = 4  # of Newton's method, which converges quadratically here


class Wealth:
    """What has been won so far, by guess (of the scores; see `confidence`) and stake."""

    def __init__(self, guesses: int) -> None:
        self.gain = np.zeros((guesses, len(STAKES)))
        self.centre = np.zeros((guesses, len(STAKES)))

    def add(self, gains: Array, centres: Array) -> None:
        """Rows by guess and stake: what each adds. One after another, so that pieces add up to the same."""
        self.gain = np.concatenate([self.gain[np.newaxis], gains]).sum(axis=0)
        self.centre = np.concatenate([self.centre[np.newaxis], centres]).sum(axis=0)

    def path(self, gains: Array, centres: Array, alpha: float) -> Array:
        """`add`, and the least sum after each of the rows."""
        gain = np.cumsum(np.concatenate([self.gain[np.newaxis], gains]), axis=0)
        centre = np.cumsum(np.concatenate([self.centre[np.newaxis], centres]), axis=0)
        self.gain, self.centre = gain[-1], centre[-1]
        return least(gain[1:], centre[1:], alpha)

    def least(self, alpha: float) -> Array:
        """The least sum that is not ruled out."""
        return least(self.gain, self.centre, alpha)


def least(gain: Array, centre: Array, alpha: float) -> Array:
    """The root in s of: the average over guesses and stakes of exp(gain + λ·(centre − s)) is 1/α.

    The logarithm of the average is convex and falls with s. So Newton's method, from the best bound of any
    single stake, climbs to the root and never beyond it: wherever it stops, the bound is valid.
    """
    guesses = gain.shape[-2]
    flat = (*gain.shape[:-2], guesses * len(STAKES))
    stakes = np.tile(STAKES, guesses)
    height = (gain + STAKES * centre + np.log(PRIOR)).reshape(flat) + math.log(alpha / guesses)
    total: Array = (height / stakes).max(axis=-1)
    for _ in range(_STEPS):
        exponents = height - stakes * total[..., np.newaxis]
        top = exponents.max(axis=-1)
        shares = np.exp(exponents - top[..., np.newaxis])
        sums = shares.sum(axis=-1)
        total = total + np.maximum(top + np.log(sums), 0.0) * sums / (shares @ stakes)
    return total
