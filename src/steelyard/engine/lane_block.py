"""`LaneBlock`: models that learn side by side. (`SingleLane` is for those that cannot.)

The models of a block have one loss, scaling and type of numbers, and may differ in the update, the learning
rate and its schedule, L2, their labels and their weights.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import class_balance, feature_columns, target_scale
from steelyard.engine import lane_answers, lane_layout
from steelyard.engine.lane_answers import LaneAnswers, sides
from steelyard.engine.lane_layout import Layout
from steelyard.examples import Examples
from steelyard.feature_columns import FeatureColumns
from steelyard.learn import adaptive_lanes, batched_loss, lanes, linear, rows, standardized_lanes
from steelyard.losses import Loss
from steelyard.model import Model, Settings
from steelyard.numba_tools import jit

Matrix = NDArray[np.float64]
Predict = Callable[[Examples], Matrix]

EVERY = slice(None)
_TOGETHER = 1 << 12  # features whose numbers are looked at at once, beside which little memory is needed


def fits_in_lanes(settings: Settings) -> bool:
    """Whether such a model can learn side by side with others. (L1 and flows of more than p cannot.)"""
    return (
        settings.rates == "row" and settings.l1 == 0.0 and (settings.l2 == 0.0 or settings.l2_flow == "split")
    )


_OWN = ("update", "learning_rate", "initial_t", "power_t", "l2", "l2_flow")
_common = attrgetter(*(field.name for field in fields(Settings) if field.name not in _OWN))


def kind(settings: Settings) -> tuple[Any, ...]:
    """What the settings of a block have in common."""
    return tuple(_common(settings))


def row_losses(loss: Loss, predictions: Matrix, labels: Matrix) -> Matrix:
    """ℓ(p, y) of each prediction; labels have as many columns, or one for all."""
    values = np.empty(predictions.shape[::-1])
    columns = np.broadcast_to(labels, predictions.shape)
    with np.errstate(all="ignore"):
        for k, place in enumerate(values):
            own = np.ascontiguousarray(predictions[:, k]), np.ascontiguousarray(columns[:, k])
            rows.fill_pairs(jit.pointer(loss, "value"), *own, place)
    return values.T


def row_errors(loss: Loss, predictions: Matrix, labels: Matrix) -> NDArray[np.bool_]:
    """Which predictions are for the wrong one of two classes; labels as for `row_losses`."""
    middle, boundary = sides(loss)
    wrong: NDArray[np.bool_] = (predictions > boundary) != (labels > middle)
    return wrong


class LaneBlock:
    """Lanes in the order of their settings; inside, those of one update lie side by side."""

    def __init__(self, settings: Sequence[Settings], features: int) -> None:
        self.settings = list(settings)
        self.features = features
        common = self.settings[0]
        self._layout = layout = Layout(settings)
        self.weights = lane_layout.zeros((features, _parts(common), len(layout)), common.dtype)
        self.state = lane_layout.zeros((lanes.LANE_STATE_SIZE, len(layout)), "float64")
        self.state[[linear.SCALE, lanes.ALIVE]] = 1.0
        self.label_state = np.zeros(target_scale.SIZE if common.in_label_units else 0)
        self.class_state = (
            class_balance.new_state(len(layout)) if common.in_class_steps else np.zeros((0, len(layout)))
        )
        own_units = common.scaling == "standardized"
        self.unit_fill = np.zeros(1)
        self.columns = FeatureColumns(features if own_units and common.bias else 0, common.dtype)
        self.rate_factor = 1.0
        self._rates = np.array([each.rate for each in layout.settings])
        self._l2 = np.array([each.l2 for each in layout.settings])
        self._multiply = np.array([each.update == "explicit" for each in layout.settings])

    def learn(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        labels: Matrix,
        sample_weight: Matrix,
        predictions: Matrix | None = None,
    ) -> None:
        """Learn the rows of these numbers in turn. Labels and weights have one column, or one a lane."""
        before = np.empty((0 if predictions is None else len(rows), self.weights.shape[2]))
        labels, sample_weight = self._spread(labels), self._spread(sample_weight)
        with np.errstate(all="ignore"):
            if len(self.label_state):
                self._learn_in_units(examples, rows, labels, sample_weight, before)
            elif len(self.class_state):
                self._learn_in_class_steps(examples, rows, labels, sample_weight, before)
            else:
                self._learn(examples, rows, labels, sample_weight, before, 1.0)
        if predictions is not None:
            predictions[...] = before[:, self._layout.place]

    def _learn_in_units(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        labels: Matrix,
        sample_weight: Matrix,
        before: Matrix,
    ) -> None:
        bias = self.settings[0].bias
        pieces = target_scale.blocks(self.label_state, labels[:, 0], sample_weight[:, 0], bias)
        for part, unit in pieces:
            if not self.state[linear.CLOCK, 0]:
                self.state[linear.BIAS] = self.label_state[target_scale.ORIGIN]
            here = before[part] if len(before) else before
            self._learn(examples, rows[part], labels[part], sample_weight[part], here, unit)

    def _learn_in_class_steps(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        labels: Matrix,
        sample_weight: Matrix,
        before: Matrix,
    ) -> None:
        state = self.class_state
        if labels.shape[1] == sample_weight.shape[1] == 1 and (state == state[:, :1]).all():
            state = state[:, :1].copy()  # all lanes have seen the same
        columns = np.broadcast_to(labels.T, (state.shape[1], len(rows)))
        weights = np.broadcast_to(sample_weight.T, columns.shape)
        shares = class_balance.shares(self.settings[0].loss, columns, weights)
        for part, steps in class_balance.blocks(state, shares, weights):
            here = before[part] if len(before) else before
            self._learn(examples, rows[part], labels[part], sample_weight[part], here, 1.0, steps)
        self.class_state[...] = state

    def _learn(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        labels: Matrix,
        sample_weight: Matrix,
        before: Matrix,
        unit: float,
        steps: NDArray[np.float64] | float = 1.0,
    ) -> None:
        settings = self.settings[0]
        rate = unit * (self.rate_factor if settings.scaling == "standardized" else 1.0)
        table, column = lane_layout.pushes(self._layout.settings, self.state[linear.CLOCK], sample_weight)
        taught = (
            *examples.arrays, rows, labels, sample_weight, examples.base,
            table, column, self.weights, self.state, self._rates * (rate * steps),
            self._l2 / unit if unit > 0.0 else 0.0 * self._l2,
        )  # fmt: skip
        of = settings.loss, settings.dtype
        forms = (self._layout.bounds, self._layout.steps(), batched_loss.values(*of))
        bias, point = float(settings.bias), sides(settings.loss)
        if settings.scaling == "standardized":
            if not self.state[linear.CLOCK].any():
                for turn in np.flatnonzero(sample_weight.any(axis=1))[:1]:
                    self.columns.begin(examples, rows[turn], self.weights[:, 2, 0])
            standardized_lanes.learn(
                *taught, *self.columns.arrays, bias, *point, before, *forms,
                batched_loss.slopes(*of), batched_loss.values_after(*of), self._multiply, unit,
                settings.average_power,
            )  # fmt: skip
        elif settings.adaptive:
            adaptive_lanes.learn(
                *taught, settings.scaling == "normalized", bias, *point, before, *forms,
                batched_loss.slopes(*of), batched_loss.values_after(*of),
                self._multiply, unit,
            )  # fmt: skip
        else:
            lanes.learn(*taught, settings.scaling == "row_norm", bias, *point, before, *forms)
        for total in (linear.CLOCK, linear.WEIGHT):
            self.state[total] = lane_layout.after(self.state[total], sample_weight)

    def measure(
        self, examples: Examples, rows: NDArray[np.int64], labels: Matrix, sample_weight: Matrix
    ) -> tuple[Matrix, Matrix]:
        """The loss and the importance of the errors of each lane, summed over rows it does not learn."""
        totals = np.zeros_like(self.state)
        totals[lanes.ALIVE] = self.state[lanes.ALIVE]
        columns = self._spread(labels), self._spread(sample_weight)
        none = np.empty((0, self.weights.shape[2]))
        lane_answers.look(self.settings[0], self._answers(), examples, rows, *columns, totals, none)
        return totals[linear.LOSS, self._layout.place], totals[lanes.ERROR, self._layout.place]

    def predict(self, examples: Examples) -> Matrix:
        """w·x of each row in each lane; NaN for the diverged."""
        return self.as_it_is()(examples)

    def as_it_is(self) -> Predict:
        """`predict` of the lanes as they are: what takes as long as there are features is done once."""
        return LaneAnswers(self.settings[0], self._layout, *self._answers()).predict

    def _answers(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The weights of raw features, and the state with the bias that goes with them."""
        if self.settings[0].scaling != "standardized":
            return self.weights, self.state
        answers = np.zeros((self.features, 1, self.weights.shape[2]), self.weights.dtype)
        fading = lane_answers.fading_of(self.settings[0], self.state)
        for start in range(0, self.features, _TOGETHER):
            own, place = self.weights[start : start + _TOGETHER], answers[start : start + _TOGETHER, 0]
            lane_answers.raw_units(own[:, 0], own[:, 2], own[:, 3], self.state, fading, place)
        return answers, lane_answers.state_from_origins(self.state, fading, self.columns, answers)

    def _spread(self, columns: Matrix) -> Matrix:
        """One column stays one; those of the settings become those of the lanes."""
        if columns.shape[1] == 1:
            return columns
        spread = np.repeat(
            columns[:, :1], self.weights.shape[2], axis=1
        )  # what the loss allows, for spare lanes
        spread[:, self._layout.place] = columns
        return spread

    def know_units(self, own: NDArray[np.int64]) -> None:
        """As `Model.know_units`."""
        if self.settings[0].scaling == "standardized":
            self.unit_fill[0] = -1.0
            self.weights[:, 2] = -1.0
            self.weights[own, 2] = 0.0

    def scalars(self, which: int) -> NDArray[np.float64]:
        """One row of the state, in the order of the settings."""
        scalars: NDArray[np.float64] = self.state[which, self._layout.place]
        return scalars

    def met(self) -> NDArray[np.int64]:
        """The features of which any lane knows something: of the others, models need no copies."""
        found = []
        for start in range(0, self.features, _TOGETHER):
            part = self.weights[start : start + _TOGETHER]
            known = (part != 0.0).any(axis=2)
            if self.settings[0].scaling == "standardized":
                known[:, 2] = (part[:, 2] != self.unit_fill[0]).any(axis=1)
            found.append(start + np.flatnonzero(known.any(axis=1)))
        return np.concatenate(found)

    def model(self, number: int, met: NDArray[np.int64] | slice = EVERY) -> Model:
        """One of the models, as a copy that can go on alone; `met`, if known, saves time."""
        lane = self._layout.place[number]
        model = Model(self.settings[number], self.features)
        model.state[:] = self.state[: linear.STATE_SIZE, lane]
        model.raw_coefficients[met] = self.weights[met, 0, lane]
        if model.settings.adaptive:
            model.sum_squared_gradients[met] = self.weights[met, 1, lane]
        if model.settings.scaling == "normalized":
            model.max_abs[met] = self.weights[met, 2, lane]
        if model.settings.scaling == "standardized":
            model.units[:] = self.unit_fill
            model.units[met] = self.weights[met, 2, lane]
            model.lag[met] = self.weights[met, 3, lane]
            model.columns = copy.deepcopy(self.columns)
            model.unit_fill[:] = self.unit_fill
        model.label_state[:] = self.label_state
        model.class_state[:] = self.class_state[:, lane]
        return model

    def put(self, number: int, model: Model) -> None:
        """Let one of the models go on from a copy of this one."""
        lane = self._layout.place[number]
        self.state[: linear.STATE_SIZE, lane] = model.state
        self.weights[:, 0, lane] = model.raw_coefficients
        if model.settings.adaptive:
            self.weights[:, 1, lane] = model.sum_squared_gradients
        if model.settings.scaling == "normalized":
            self.weights[:, 2, lane] = model.max_abs
        if model.settings.scaling == "standardized":
            self.weights[:, 2, lane] = model.units
            self.weights[:, 3, lane] = model.lag
            self.columns = copy.deepcopy(model.columns)
            self.unit_fill[:] = model.unit_fill
        self.label_state[:] = model.label_state
        self.class_state[:, lane] = model.class_state

    def set_scalars(self, which: int, values: NDArray[np.float64]) -> None:
        """One row of the state, in the order of the settings."""
        self.state[which, self._layout.place] = values

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changes."""
        return {
            "weights": self.weights,
            "state": self.state,
            "label_state": self.label_state,
            "class_state": self.class_state,
            "unit_fill": self.unit_fill,
            **self.columns.named(),
        }


def upgraded(state: Matrix) -> Matrix:
    """The state of one model, or of lanes, as it was before averages: without their two numbers."""
    if state.ndim == 1:
        return np.append(state, np.zeros(linear.STATE_SIZE - len(state)))
    missing = lanes.LANE_STATE_SIZE - len(state)
    return np.insert(state, [lanes.ERROR - missing] * missing, 0.0, axis=0)


def bytes_a_lane(settings: Settings, features: int) -> int:
    return features * _parts(settings) * np.dtype(settings.dtype).itemsize


def bytes_of_l1(settings: Settings, features: int) -> int:
    """What a model with L1 remembers of each feature: what it has paid, and when, if that is averaged."""
    return 8 * features * ((settings.l1 > 0.0) + (settings.l1 > 0.0 and settings.average_power > 0))


def bytes_in_common(settings: Settings, features: int) -> int:
    """What lanes share, and a model alone has too: the origins of columns."""
    has_origins = settings.scaling == "standardized" and settings.bias
    return feature_columns.bytes_needed(features, settings.dtype) if has_origins else 0


def _parts(settings: Settings) -> int:
    return {"adaptive": 2, "normalized": 3, "standardized": 4}.get(settings.scaling, 1)
