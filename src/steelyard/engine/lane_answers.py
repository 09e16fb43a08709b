"""What lanes predict with: the weights of raw features, and the biases that go with them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Matrix
from steelyard.engine.lane_layout import Layout
from steelyard.examples import Examples
from steelyard.feature_columns import FeatureColumns
from steelyard.learn import batched_loss, lanes, linear, units
from steelyard.learn.lane_parts import COEFFICIENT
from steelyard.losses import Loss, OneOf, decision_point
from steelyard.model import epochs_begun
from steelyard.settings import Settings


class LaneAnswers:
    """Lanes that predict: weights of raw features, by feature and lane, and the state that goes with them."""

    def __init__(self, settings: Settings, layout: Layout, answers: NDArray[Any], state: Matrix) -> None:
        self._settings, self._place, self._answers, self._state = settings, layout.place, answers, state

    def predict(self, examples: Examples) -> Matrix:
        """w·x of each row in each lane; NaN for the diverged."""
        predictions = np.empty((len(examples), self._answers.shape[2]))
        rows, none = np.arange(len(examples)), np.zeros((0, 1))
        totals = np.zeros_like(self._state)
        look(self._settings, (self._answers, self._state), examples, rows, none, none, totals, predictions)
        return predictions[:, self._place]


def look(
    settings: Settings,
    answers: tuple[NDArray[Any], Matrix],
    examples: Examples,
    rows: NDArray[np.int64],
    labels: Matrix,
    sample_weight: Matrix,
    totals: Matrix,
    predictions: Matrix,
) -> None:
    lanes.measure(
        turns(examples, rows, labels, sample_weight), lanes.Model(*answers), target(settings),
        batched_loss.values(settings.loss, settings.dtype), totals, predictions, lanes.scratch_for(answers[0]),
    )  # fmt: skip


def turns(examples: Examples, rows: NDArray[np.int64], labels: Matrix, sample_weight: Matrix) -> lanes.Turns:
    """These rows of the examples, as kernels take them."""
    return lanes.Turns(*examples.arrays, rows, labels, sample_weight, examples.offsets_array)


def target(settings: Settings) -> lanes.Target:
    return lanes.Target(float(settings.bias), *sides(settings.loss))


def sides(loss: Loss) -> tuple[float, float]:
    """Between which labels, and at which prediction, a loss for two classes turns. (Others do not care.)"""
    values = loss.labels.values if isinstance(loss.labels, OneOf) else (-1.0, 1.0)
    return 0.5 * (min(values) + max(values)), decision_point(loss)


def fading_of(settings: Settings, state: Matrix) -> NDArray[np.float64]:
    """What the lag of each lane's average is multiplied by."""
    clocks, power = state[linear.CLOCK] + state[linear.FRACTION], settings.average_power
    ratio = np.where(clocks > 0.0, state[linear.REFERENCE] / epochs_begun(clocks), 0.0)
    return ratio**power if power else np.zeros_like(clocks)


def answers_type(settings: Settings, columns: FeatureColumns) -> str:
    """The type of the weights of raw features: products with numbers far from 0 must cancel out with the bias."""
    return "float64" if len(columns.found) else settings.dtype


def raw_units(
    v: NDArray[Any], unit: NDArray[Any], lag: NDArray[Any], state: Matrix, fading: Matrix, out: NDArray[Any]
) -> None:
    """Averages of coefficients in their own units, for raw features; `out` stays as it is without a unit.

    They are divided by the scale of L2, by which predictions are multiplied.
    """
    sizes, kind = np.abs(unit), out.dtype
    behind = lag.astype(kind, copy=False) - state[linear.SCALE_LAG].astype(kind) * v
    behind *= (fading / state[linear.SCALE]).astype(kind)
    np.divide(v - behind, sizes, out=out, where=sizes > units.TINIEST)


def state_from_origins(
    state: Matrix, fading: NDArray[np.float64], columns: FeatureColumns, answers: NDArray[Any]
) -> Matrix:
    """The state of lanes with the bias for features that are not measured from their origins."""
    state, found = state.copy(), columns.found
    moved = columns.origins[found].astype(np.float64) @ answers[found, COEFFICIENT].astype(np.float64)
    state[linear.BIAS] -= fading * state[linear.BIAS_LAG] + state[linear.SCALE] * moved
    return state
