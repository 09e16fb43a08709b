"""`LaneBlock`: models that learn side by side. (`SingleLane` is for those that cannot.)

The models of a block share the loss, the scaling and the type of numbers; they may differ in the update, the
learning rate and its schedule, L2, labels and weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, fields, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import class_balance, target_scale
from steelyard._array_types import Floats, Integers, Matrix
from steelyard.array_table import ARRAYS, IN_COMMON, LANE_PARTS, OF_EACH
from steelyard.engine import lane_answers, lane_layout
from steelyard.engine.lane_answers import LaneAnswers
from steelyard.engine.lane_layout import Layout
from steelyard.examples import Examples
from steelyard.feature_columns import FeatureColumns
from steelyard.learn import adaptive_lanes, batched_loss, clock, lane_epochs, lane_parts, lanes, linear
from steelyard.learn.lane_features import BY_LARGEST, BY_NOTHING, BY_UNITS
from steelyard.learn.lane_parts import COEFFICIENT, GRADIENTS, LAG, UNIT, numbers_before
from steelyard.learner import broken
from steelyard.losses import class_labels
from steelyard.model import Model
from steelyard.settings import Settings

Predict = Callable[[Examples], Matrix]

EVERY = slice(None)
_KINDS = {"adaptive": BY_NOTHING, "normalized": BY_LARGEST, "standardized": BY_UNITS}
_NO_UNIT_YET = 1e-35  # marks features that are excepted from fixed units: too small to count as a unit
_TOGETHER = 1 << 12  # features that are converted at a time, to save memory


def fits_in_lanes(settings: Settings) -> bool:
    """Return whether such a model can learn side by side with others. (With L1 it cannot.)"""
    return settings.l1 == 0.0


_OWN = ("update", "learning_rate", "initial_t", "power_t", "l2")
_common = attrgetter(*(field.name for field in fields(Settings) if field.name not in _OWN))


def kind(settings: Settings) -> tuple[Any, ...]:
    """Return what the settings of a block must have in common."""
    return tuple(_common(settings))


class LaneBlock:
    """Models side by side, in the order of their settings; internally, those of one update are neighbours."""

    def __init__(self, settings: Sequence[Settings], features: int) -> None:
        self.settings = list(settings)
        self.features = features
        common = self.settings[0]
        self._layout = layout = Layout(settings)
        shape = features, lane_layout.numbers_a_feature(common), len(layout)
        self.weights = lane_layout.zeros(shape, common.dtype)
        self.state = lane_layout.zeros((lanes.LANE_STATE_SIZE, len(layout)), "float64")
        self.state[[linear.SCALE, lanes.ALIVE]] = 1.0
        self.gained = np.zeros((0, len(layout)))
        self.touched = np.zeros((len(layout), 0), np.int32)
        """Gains of sums of squares in the open epoch of each lane, and the features that have any: see `Model`."""
        self.label_state = np.zeros((target_scale.SIZE if common.has_label_unit else 0, len(layout)))
        no_steps = np.zeros((0, len(layout)))
        self.class_state = class_balance.new_state(len(layout)) if common.has_class_factor else no_steps
        own_units = common.scaling == "standardized"
        self.unit_fill = np.zeros(1)
        self.columns = FeatureColumns(features if own_units and common.bias else 0, common.dtype)
        self.rate_factor = 1.0
        self._schedule = np.array([astuple(each.schedule()) for each in layout.settings]).T.copy()
        self._l2 = np.array([each.l2 for each in layout.settings])
        self._moments: tuple[float, Matrix] | None = None

    def _part(self, which: int) -> NDArray[Any]:
        """Return one part of all lanes, such as the COEFFICIENT of each feature: a view."""
        lanes, singles = len(self._layout), lane_layout.singles(self.settings[0])
        if which == GRADIENTS:
            start = numbers_before(GRADIENTS, singles) * lanes // singles
            return self.weights.reshape(self.features, -1).view(np.float64)[:, start : start + lanes]
        return self.weights[:, numbers_before(which, singles)]

    def learn(
        self,
        examples: Examples,
        rows: Integers,
        labels: Matrix,
        sample_weight: Matrix,
        predictions: Matrix | None = None,
    ) -> None:
        """Learn the rows of these numbers in turn. Labels and weights have one column, or one a lane."""
        before = np.empty((0 if predictions is None else len(rows), self.weights.shape[2]))
        labels, sample_weight = self._spread(labels), self._spread(sample_weight)
        with np.errstate(all="ignore"):
            learn = self._learn_adaptive if self.settings[0].adaptive else self._learn_plain
            learn(examples, rows, labels, sample_weight, before)
        if predictions is not None:
            predictions[...] = before[:, self._layout.place]

    def _learn_plain(
        self,
        examples: Examples,
        rows: Integers,
        labels: Matrix,
        sample_weight: Matrix,
        before: Matrix,
    ) -> None:
        settings = self.settings[0]
        # with L2, the kernel moves the clock from whole number to whole number; without, it has no fraction
        clocks, fractions = own = self.state[[linear.CLOCK, linear.FRACTION]]
        clocks, fractions = np.where(self._l2 > 0.0, own, [clocks + fractions, np.zeros_like(clocks)])
        table, column = lane_layout.pushes(self._layout.settings, clocks, fractions, sample_weight)
        rule = lanes.Rule(
            table, column, self._schedule[0], self._l2, settings.scaling == "row_norm",
            self._layout.bounds, self._layout.steps(), batched_loss.values(settings.loss, settings.dtype),
            self._layout.splitting, self._schedule, self._layout.single_forms()[0],
        )  # fmt: skip
        lanes.learn(
            lane_answers.turns(examples, rows, labels, sample_weight), lanes.Model(self.weights, self.state),
            lane_answers.target(settings), rule, before, lanes.scratch_for(self.weights),
        )  # fmt: skip
        ends = lane_layout.after(clocks, sample_weight)
        own = self.state[[linear.CLOCK, linear.FRACTION]]
        self.state[[linear.CLOCK, linear.FRACTION]] = np.where(
            self._l2 > 0.0, own, [ends, np.zeros_like(ends)]
        )
        self.state[linear.WEIGHT] = lane_layout.after(self.state[linear.WEIGHT], sample_weight)

    def _learn_adaptive(
        self,
        examples: Examples,
        rows: Integers,
        labels: Matrix,
        sample_weight: Matrix,
        before: Matrix,
    ) -> None:
        settings, layout = self.settings[0], self._layout
        of = settings.loss, settings.dtype
        if settings.scaling == "standardized" and not self.state[[linear.CLOCK, linear.FRACTION]].any():
            for turn in np.flatnonzero(sample_weight.any(axis=1))[:1]:
                self.columns.begin(examples, rows[turn], self._units(0))
        if broken(sample_weight) or self.state[linear.FRACTION].any():
            self.hold_gains()
        low, high = class_labels(settings.loss) if len(self.class_state) else (0.0, 1.0)
        numbers = adaptive_lanes.Model(
            self.weights, self.weights.reshape(-1).view(np.float64), float(self.unit_fill[0]),
            self.gained.reshape(-1), self.touched, self.state, self.label_state, self.class_state,
            *self.columns.arrays,
        )  # fmt: skip
        rule = adaptive_lanes.Rule(
            _KINDS[settings.scaling], self._moments_now(), layout.splitting, layout.multiply, self._l2, low, high,
            settings.average_power, layout.bounds, layout.steps(), batched_loss.values(*of),
            batched_loss.slopes(*of), batched_loss.values_after(*of), *layout.single_forms(),
        )  # fmt: skip
        single = lane_epochs.scratch_for(
            examples.indptr, settings.dtype, settings.has_label_unit, settings.has_class_factor
        )
        adaptive_lanes.learn(
            lane_answers.turns(examples, rows, labels, sample_weight), numbers, lane_answers.target(settings),
            rule, before, adaptive_lanes.scratch_for(examples.indptr, self.weights, single),
        )  # fmt: skip

    def _moments_now(self) -> Matrix:
        """Return the `moment` of each lane (see `learn.clock`) for the current factor of rates."""
        factor = self.rate_factor if self.settings[0].scaling == "standardized" else 1.0
        if self._moments is None or self._moments[0] != factor:
            moments = [
                clock.new_moment(each.loss, each.dtype, schedule, each.average_power)
                for each in self._layout.settings
                for schedule in [replace(each.schedule(), learning_rate=each.rate * factor)]
            ]
            self._moments = factor, np.stack(moments, axis=1)
        return self._moments[1]

    def hold_gains(self) -> None:
        """Make the arrays of gains, as `Model.hold_gains` does."""
        if not len(self.gained) and self.settings[0].adaptive and self._layout.cuts:
            self.gained = lane_layout.zeros((self.features, len(self._layout)), "float64")
            self.touched = np.zeros((len(self._layout), self.features + 1), np.int32)

    def list_gains(self) -> None:
        """List the features that have gains, as `Model.list_gains` does."""
        for lane in range(len(self._layout) if len(self.gained) else 0):
            listed = np.flatnonzero(self.gained[:, lane])
            self.touched[lane, : len(listed)], self.state[linear.TOUCHED, lane] = listed, len(listed)

    def measure(
        self, examples: Examples, rows: Integers, labels: Matrix, sample_weight: Matrix
    ) -> tuple[Matrix, Matrix]:
        """Return two sums for each lane over rows that it does not learn: losses, and weights of errors."""
        totals = np.zeros_like(self.state)
        totals[lanes.ALIVE] = self.state[lanes.ALIVE]
        columns = self._spread(labels), self._spread(sample_weight)
        none = np.empty((0, self.weights.shape[2]))
        lane_answers.look(self.settings[0], self._answers(), examples, rows, *columns, totals, none)
        return totals[linear.LOSS, self._layout.place], totals[lanes.ERROR, self._layout.place]

    def predict(self, examples: Examples) -> Matrix:
        """Return w·x of each row in each lane; NaN for lanes that have diverged."""
        return self.as_it_is()(examples)

    def as_it_is(self) -> Predict:
        """Return `predict` of the lanes as they are now: work that grows with the features is done once."""
        return LaneAnswers(self.settings[0], self._layout, *self._answers()).predict

    def _answers(self) -> tuple[NDArray[Any], Floats]:
        """Return the weights of raw features, and the state with the matching bias."""
        if self.settings[0].scaling != "standardized":
            return self.weights, self.state
        kind = lane_answers.answers_type(self.settings[0], self.columns)
        answers = np.zeros((self.features, 1, self.weights.shape[2]), kind)
        fading = lane_answers.fading_of(self.settings[0], self.state)
        own = [self._part(which) for which in (COEFFICIENT, UNIT, LAG)]
        for start in range(0, self.features, _TOGETHER):
            some = slice(start, start + _TOGETHER)
            v, units, lags = (part[some] for part in own)
            lane_answers.raw_units(v, units, lags, self.state, fading, answers[some, COEFFICIENT])
        return answers, lane_answers.state_from_origins(self.state, fading, self.columns, answers)

    def _spread(self, columns: Matrix) -> Matrix:
        """Turn columns of settings into columns of lanes; a single column stays one."""
        if columns.shape[1] == 1:
            return columns
        spread = np.repeat(
            columns[:, :1], self.weights.shape[2], axis=1
        )  # spare lanes have valid labels, too
        spread[:, self._layout.place] = columns
        return spread

    def fix_units(self, except_for: Integers) -> None:
        """Fix units as `Model.fix_units` does; the kernel writes them when a row first needs them."""
        if self.settings[0].scaling == "standardized":
            self.unit_fill[0] = -1.0
            self._part(UNIT)[except_for] = _NO_UNIT_YET

    def _units(self, lane: int, features: Integers | slice = EVERY) -> NDArray[Any]:
        """Return units as a model has them."""
        units = self._part(UNIT)[features, lane]
        if not self.unit_fill[0]:
            return units
        filled = np.where(units == 0.0, units.dtype.type(self.unit_fill[0]), units)
        filled[units == units.dtype.type(_NO_UNIT_YET)] = 0.0
        return filled

    def scalars(self, which: int) -> Floats:
        """Return one row of the state, in the order of the settings."""
        scalars: Floats = self.state[which, self._layout.place]
        return scalars

    def met(self) -> Integers:
        """Return the features that any lane has met: models need no copies of the others."""
        met = np.empty(self.features, np.bool_)
        if self.settings[0].scaling == "standardized":  # a feature without a unit was not met
            unit = numbers_before(UNIT, lane_layout.singles(self.settings[0]))
            lane_parts.mark_met(self.weights, unit, unit + 1, met)
        else:
            lane_parts.mark_met(self.weights, 0, self.weights.shape[1], met)
        return np.flatnonzero(met)

    def model(self, number: int, met: Integers | slice = EVERY) -> Model:
        """Return one of the models, as a copy that can learn on alone; `met`, if known, saves time."""
        lane = self._layout.place[number]
        model = Model(self.settings[number], self.features)
        if len(self.gained) and self.state[linear.FRACTION, lane]:
            model.hold_gains()
        model.units[:] = self.unit_fill
        for array in ARRAYS:
            own = array.of(model)
            if array.lanes == IN_COMMON:
                own[...] = array.of(self)
            elif array.lanes == OF_EACH:
                own[:] = array.of(self)[: len(own), lane]
        for part, array in LANE_PARTS:
            if len(own := array.of(model)):
                own[met] = self._units(lane, met) if part == UNIT else self._part(part)[met, lane]
        model.list_gains()
        return model

    def put(self, number: int, model: Model) -> None:
        """Let one of the models continue from a copy of this one."""
        lane = self._layout.place[number]
        if len(model.gained):
            self.hold_gains()
        if len(self.gained):
            self.gained[:, lane] = 0.0  # the model may have none
            self.touched[lane, : len(model.touched)] = model.touched
        for array in ARRAYS:
            own = array.of(model)
            if array.lanes == IN_COMMON:
                array.of(self)[...] = own
            elif array.lanes == OF_EACH and len(ours := array.of(self)):
                ours[: len(own), lane] = own
        for part, array in LANE_PARTS:
            if len(own := array.of(model)):
                self._part(part)[:, lane] = own
        if self.unit_fill[0]:
            self._part(UNIT)[model.units == 0.0, lane] = _NO_UNIT_YET

    def set_scalars(self, which: int, values: Floats) -> None:
        """Replace one row of the state, in the order of the settings."""
        self.state[which, self._layout.place] = values

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change, by name."""
        shared = {array.name: array.of(self) for array in ARRAYS if array.lanes}
        return {"weights": self.weights} | shared
