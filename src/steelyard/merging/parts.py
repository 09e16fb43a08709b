"""`Part`: the numbers of a model as another one can be merged with it, feature by feature.

A part has a share in each coefficient: the squared gradients that it has added to the coefficient's sum, or,
in the plain mean, the weight of its rows. The merged coefficient, its average and its sum of squares are the
means by these shares. So a feature that one part alone has seen keeps what that part has learned of it, and
the rates go on as those of one part do: neither as if nothing, nor as if everything had been seen here.
Columns of numbers are in every row, as the bias is; of these, the weight of the rows is the share always, so
that they fit together.

Parts measure features in units, and columns of numbers from origins, of their own. Coefficients are compared
in those of the rows, sums of squares in a unit that fits both; what another origin changes, the bias makes up
for. Predictions stay the same. A merged part is a part again: a tree of merges is what a list of them is.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import class_balance, feature_columns, target_scale
from steelyard._array_types import Floats
from steelyard.learn import linear, units
from steelyard.merging import common_units
from steelyard.model import Model, Settings, epochs_begun

GRADIENTS, MEAN = "gradients", "mean"

_ADDED = [linear.LOSS, linear.WEIGHT, linear.NORM, linear.SEEN, linear.CLOCK]


@dataclass(frozen=True)
class Part:
    """Arrays have a place for each of `features`, and the last one is that of the bias."""

    settings: Settings
    size: int
    unit_fill: float
    features: NDArray[np.int64]
    last: Floats
    """The last coefficients, of the rows' values."""
    average: Floats
    """Their averages, which predict."""
    squares: Floats
    """Sums of squared gradients, in units of the features."""
    shares: Floats
    absent: float
    """The share in a feature that the part has not met."""
    units: Floats
    """The unit of each feature, with signs as `learn.units` has them."""
    origins: Floats
    """NaN: the feature has none."""
    candidates: Floats
    clock: float
    """How far one part has come."""
    sums: Floats
    """Sums that add up: see `_ADDED`; the weight learned is the last."""
    label_state: Floats
    class_state: Floats

    def merged(self, other: "Part") -> "Part":
        """The mean of both by their shares."""
        features = self.features
        if not np.array_equal(features, other.features):
            features = np.union1d(features, other.features)
        left, right = self._spread(features), other._spread(features)
        origins = np.where(np.isnan(left.origins), right.origins, left.origins)
        origins[np.flatnonzero(~np.isnan(origins))[feature_columns.MOST :]] = (
            np.nan
        )  # others are measured from 0
        left, right = left._measured_from(origins), right._measured_from(origins)
        both = common_units.merged_units(left.units, right.units)
        left, right = left._measured_in(both), right._measured_in(both)
        total = left.shares + right.shares
        known = np.where(left.units == 0.0, 0.0, np.where(right.units == 0.0, 1.0, 0.5))
        weight = np.divide(left.shares, total, out=known, where=total > 0.0)

        def mean(mine: Floats, others: Floats) -> Floats:
            return np.asarray(weight * mine + (1.0 - weight) * others)

        learned = self.sums[-1] + other.sums[-1]
        ahead = self.sums[-1] / learned if learned > 0.0 else 0.5
        return replace(
            left,
            last=mean(left.last, right.last),
            average=mean(left.average, right.average),
            squares=mean(left.squares, right.squares),
            shares=total,
            absent=self.absent + other.absent,
            units=both,
            candidates=common_units.merged_candidates(self, other),
            clock=ahead * self.clock + (1.0 - ahead) * other.clock,
            sums=self.sums + other.sums,
            label_state=_merged_labels(self.label_state, other.label_state),
            class_state=self.class_state + other.class_state,
        )

    def model(self, base: Model | None = None, *, total: float | None = None) -> Model:
        """Make a model. `total` is the weight that all parts have learned: None for one that is merged again.

        Its clock then shows how far one part has come, so that averages of the next round count as they do
        for one learner.
        """
        model = Model(self.settings, self.size)
        at, power = self.features, self.settings.average_power
        model.unit_fill[0] = self.unit_fill
        sizes = np.ones(len(at))
        if len(model.units):
            model.units[:] = self.unit_fill
            sizes = np.abs(self.units[:-1])
            model.units[at] = self.units[:-1]
            model.lag[at] = (self.last - self.average)[:-1] * sizes if power else 0.0
        if len(model.max_abs):
            model.max_abs[at] = np.abs(self.units[:-1])
        model.raw_coefficients[at] = self.last[:-1] * sizes
        if self.settings.adaptive:
            model.sum_squared_gradients[at] = self.squares[:-1]
        state = model.state
        state[_ADDED] = self.sums + (0.0 if base is None else base.state[_ADDED])
        model.set_clock(self.clock if total is None else total)
        state[[linear.BIAS, linear.BIAS_SQUARES]] = self.last[-1], self.squares[-1]
        if power:
            state[linear.BIAS_LAG] = self.last[-1] - self.average[-1]
            state[linear.REFERENCE] = epochs_begun(model.clock)
        if len(model.columns.origins):
            found = np.flatnonzero(~np.isnan(self.origins[:-1]))
            model.columns.origins[at[found]] = self.origins[found]
            model.columns.columns[: len(found)] = at[found]
            # each candidate must find room among the columns
            candidates = self.candidates[: len(model.columns.columns) - len(found)]
            model.columns.candidates[: len(candidates)] = candidates
            model.columns.counts[:] = len(found), len(candidates)
        model.label_state[:] = _with_base(self.label_state, base)
        if len(model.class_state):
            model.class_state[:] = self.class_state + (0.0 if base is None else base.class_state)
            class_balance.look_up(model.class_state)
        return model

    def _spread(self, features: NDArray[np.int64]) -> "Part":
        """Make places for all of these features."""
        if len(features) == len(self.features):
            return self
        at = np.append(np.searchsorted(features, self.features), len(features))

        def spread(numbers: Floats, fill: float) -> Floats:
            out = np.full(len(features) + 1, fill)
            out[at] = numbers
            return out

        return replace(
            self,
            features=features,
            last=spread(self.last, 0.0),
            average=spread(self.average, 0.0),
            squares=spread(self.squares, 0.0),
            shares=spread(self.shares, self.absent),
            units=spread(self.units, 0.0),
            origins=spread(self.origins, np.nan),
        )

    def _measured_from(self, origins: Floats) -> "Part":
        """The bias makes up for other origins; from there, values lie farther away."""
        moved = np.nan_to_num(origins) - np.nan_to_num(self.origins)
        if not moved.any():
            return replace(self, origins=origins)
        last, average = self.last.copy(), self.average.copy()
        last[-1] += last[:-1] @ moved[:-1]
        average[-1] += average[:-1] @ moved[:-1]
        met = (moved != 0.0) & (self.units != 0.0)
        farther = np.where(met, -(np.abs(self.units) + np.abs(moved)), self.units)
        return replace(self, last=last, average=average, origins=origins)._measured_in(farther)

    def _measured_in(self, others: Floats) -> "Part":
        if np.array_equal(self.units, others):
            return self
        factor = common_units.square_factors(self.units, others)
        return replace(self, squares=self.squares * factor, shares=self._scaled_shares(factor), units=others)

    def _scaled_shares(self, factor: Floats) -> Floats:
        """Squares of gradients have the units of the features, weights of rows do not."""
        return (
            self.shares
            if self.absent
            else np.where(np.isnan(self.origins), self.shares * factor, self.shares)
        )


def part_of(model: Model, base: Model | None = None, by: str = GRADIENTS) -> Part:
    """`base` is what the model went on from, as did those that it will be merged with."""
    settings, state = model.settings, model.state.copy()
    met = np.flatnonzero(common_units.met(model))
    before = np.zeros_like(state) if base is None else base.state
    sums = (state - before)[_ADDED]
    sums[-1] += state[linear.FRACTION] - before[linear.FRACTION]
    weighed = by == MEAN or not settings.adaptive
    sizes, lag = common_units.units_of(model, met), np.zeros(len(met))
    if len(model.units):
        divisor = np.where(np.abs(sizes) > units.TINIEST, np.abs(sizes), np.inf)
        last, lag = (numbers.astype(np.float64) / divisor for numbers in model.last_and_behind(met))
    else:
        last = model.coefficients()[met].astype(np.float64)
    squares = np.zeros(len(met))
    if settings.adaptive:
        squares = model.sum_squared_gradients[met].astype(np.float64)
    bias, fading = state[linear.BIAS], model._fading
    squares = np.append(squares, state[linear.BIAS_SQUARES] + state[linear.BIAS_GAINED])
    all_units, origins = np.append(sizes, 1.0), np.full(len(met) + 1, np.nan)
    if len(model.columns.found):
        origins[np.searchsorted(met, model.columns.found)] = model.columns.origins[model.columns.found]
    shares = squares - (0.0 if base is None else common_units.squares_before(base, met, all_units, origins))
    shares[~np.isnan(origins)] = shares[-1] = sums[-1]
    return Part(
        settings,
        model.features,
        float(model.unit_fill[0]),
        met,
        np.append(last, bias),
        np.append(last - fading * lag, bias - fading * state[linear.BIAS_LAG]),
        squares,
        np.full(len(met) + 1, sums[-1]) if weighed else np.maximum(shares, 0.0),
        float(sums[-1]) if weighed else 0.0,
        all_units,
        origins,
        model.columns.candidates[: model.columns.counts[1]].copy(),
        model.clock,
        sums,
        _without_base(model.label_state.copy(), base),
        model.class_state - (0.0 if base is None else base.class_state),
    )


def _merged_labels(mine: Floats, others: Floats) -> Floats:
    """Sums of labels as if all had been measured from the origin of the first part."""
    if not len(mine) or others[target_scale.WEIGHT] == 0.0:
        return mine
    if mine[target_scale.WEIGHT] == 0.0:
        return others
    apart = others[target_scale.ORIGIN] - mine[target_scale.ORIGIN]
    weight, total = others[target_scale.WEIGHT], others[target_scale.SUM]
    merged: Floats = mine.copy()
    merged[target_scale.WEIGHT] += weight
    merged[target_scale.SUM] += total + weight * apart
    merged[target_scale.SQUARES] += others[target_scale.SQUARES] + 2.0 * apart * total + weight * apart**2
    return merged


def _without_base(labels: Floats, base: Model | None) -> Floats:
    if len(labels) and base is not None:
        added = [target_scale.WEIGHT, target_scale.SUM, target_scale.SQUARES]
        labels[added] -= base.label_state[added]
    return labels


def _with_base(labels: Floats, base: Model | None) -> Any:
    """The unit is looked up anew."""
    if not len(labels):
        return labels
    whole = labels.copy()
    if base is not None:
        whole = _merged_labels(base.label_state, labels).copy()
    weight = max(whole[target_scale.WEIGHT], 1e-300)
    mean = whole[target_scale.SUM] / weight
    variance = max(whole[target_scale.SQUARES] / weight - mean * mean, 0.0)
    whole[target_scale.UNIT], whole[target_scale.SET_AT] = np.sqrt(variance), whole[target_scale.WEIGHT]
    return whole
