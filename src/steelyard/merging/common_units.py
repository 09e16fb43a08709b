"""Units and origins in which several models measure the same features: what fits all of them."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard import array_table
from steelyard._array_types import Floats
from steelyard.learn import linear
from steelyard.learn.origins import CHANGED, CHANGES, FARTHEST, FIRST, INDEX, LAST
from steelyard.learn.units import MOST, NEAR, TINIEST
from steelyard.model import Model

if TYPE_CHECKING:
    from steelyard.merging.parts import Part


def met(model: Model) -> NDArray[np.bool_]:
    """The features of which the model knows anything."""
    found = array_table.met(model, ("weights", "squares", "units"))
    found[model.columns.found] = True
    return found


def units_of(model: Model, features: NDArray[np.int64]) -> Floats:
    """The units of these features, with signs as `learn.units` has them; 1 where nothing is measured in units."""
    if not len(model.units) and not len(model.max_abs):
        return np.ones(len(features))
    return (model.units if len(model.units) else -model.max_abs)[features].astype(np.float64)


def merged_units(left: Floats, right: Floats) -> Floats:
    """Merge units as if that of one model were a value that the other meets: see `learn.units`."""
    small = np.minimum(np.abs(left), np.abs(right))
    large = np.maximum(np.abs(left), np.abs(right))
    counts = (left > TINIEST) & (right > TINIEST)
    found = np.where(counts & (small == large), small, -large)
    differing = np.flatnonzero(counts & (small != large))
    multiples = large[differing] / small[differing]
    for divisor in range(int(MOST), 0, -1):
        times = multiples * divisor
        whole = np.abs(times - np.rint(times)) <= NEAR * times
        fit = whole & (times <= MOST * (1.0 + NEAR))
        found[differing[fit]] = small[differing[fit]] / divisor
    one_knows = small <= TINIEST
    found[one_knows] = np.where(np.abs(left) > np.abs(right), left, right)[one_knows]
    return np.asarray(found)


def square_factors(before: Floats, after: Floats) -> Floats:
    """What sums of squared gradients are multiplied by: counts add |z| to them, other values z²."""
    sizes, other = np.abs(before), np.abs(after)
    ratio = np.divide(sizes, other, out=np.ones(len(sizes)), where=(sizes > TINIEST) & (other > TINIEST))
    return np.where((before > 0.0) & (after > 0.0), ratio, ratio * ratio)


def squares_before(base: Model, features: NDArray[np.int64], now: Floats, origins: Floats) -> Floats:
    """The squares of the model that a part went on from, in the part's units; the bias is the last.

    A column that has got its origin since then has begun its sum anew.
    """
    squares = np.append(
        base.sum_squared_gradients[features], base.state[linear.BIAS_SQUARES] + base.state[linear.BIAS_GAINED]
    )
    had = np.append(units_of(base, features), 1.0)
    if len(base.columns.origins):
        has_now = ~np.isnan(origins[:-1])
        squares[:-1][has_now & ~np.isin(features, base.columns.found)] = 0.0
    return np.asarray(squares * square_factors(had, now))


def merged_candidates(left: "Part", right: "Part") -> Floats:
    """The columns that may yet get an origin: those that were in every row of both."""
    mine, others = left.candidates, right.candidates
    _, at, there = np.intersect1d(mine[:, INDEX], others[:, INDEX], return_indices=True)
    at, there = at[np.argsort(at)], there[np.argsort(at)]
    found, other = mine[at].copy(), others[there]
    farther = other[:, FARTHEST] + np.abs(other[:, FIRST] - found[:, FIRST])
    found[:, FARTHEST] = np.maximum(found[:, FARTHEST], farther)
    # one change is left to be seen: origins are moved where a row is learned
    found[:, CHANGED] = np.minimum(found[:, CHANGED] + other[:, CHANGED], CHANGES - 1)
    found[:, LAST] = found[:, FIRST]
    return found
