"""`Model`: the numbers of a model (see `array_table` for each of its arrays, and `model_file` for files)."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import array_table, class_balance, target_scale
from steelyard.feature_columns import FeatureColumns
from steelyard.learn import linear, shrinkage, units
from steelyard.settings import Settings

__all__ = ["Model", "Settings", "epochs_begun"]

EVERY = slice(None)
_PIECE = (
    1 << 16
)  # coefficients that are made at a time: so many stay in the caches with what they are made from


class Model:
    """The numbers of a model. `Learner` changes them; this class makes and reads them."""

    def __init__(self, settings: Settings, features: int) -> None:
        self.settings, dtype = settings, settings.dtype
        self.features = features
        own_units = self.partner == "units"
        # Sums are in float64, or rounding would decide which level they have (see `learn.levels`).
        kinds: dict[str | None, Any] = {
            None: dtype, "units": np.result_type(dtype, np.complex64), "squares": np.complex128,
        }  # fmt: skip
        self.pairs = np.zeros(features, kinds[self.partner])
        """Coefficients, each with its partner (see `array_table`); with one rate for all features, without."""
        self.sums = np.zeros(features if own_units else 0, np.complex128)
        """Sums of squared gradients and lags of averages, where the partners of coefficients are units."""
        self.gained, self.touched = np.zeros(0), np.zeros(0, np.int64)
        """Gains of sums of squares in the open epoch, and the features that have any: see `learn.epochs`."""
        self.max_abs = np.zeros(features if settings.scaling == "normalized" else 0, dtype)
        """The largest |x| seen of each feature."""
        self.columns = FeatureColumns(features if own_units and settings.bias else 0, dtype)
        self.unit_fill = np.zeros(1)
        """The unit of a feature before it is met: 0, or −1 where all features have the fixed unit 1."""
        self.l1_applied = np.zeros(features if settings.l1 > 0.0 else 0)
        """The total L1 at the last payment of each feature."""
        averaged_l1 = features if settings.l1 > 0.0 and settings.average_power else 0
        self.l1_lags = np.zeros(averaged_l1)
        self.payments = shrinkage.payments_for(features) if averaged_l1 else np.zeros((0, 2))
        """Payments of L1, for averages: see `shrinkage`."""
        self.label_state = np.zeros(target_scale.SIZE if settings.has_label_unit else 0)
        self.class_state = class_balance.new_state() if settings.has_class_factor else np.zeros(0)
        self.state = np.zeros(linear.STATE_SIZE)
        self.state[linear.SCALE] = 1.0
        self._answer: tuple[bytes, NDArray[np.floating[Any]]] | None = None
        self.known_in_range: bool | None = None
        """Whether everything learned so far was of ordinary size; None if that is unknown: see `overflow`."""

    @property
    def partner(self) -> str | None:
        """The name of what lies beside each coefficient: see `array_table`."""
        return array_table.PARTNERS.get(self.settings.scaling)

    @property
    def raw_coefficients(self) -> NDArray[np.floating[Any]]:
        """Coefficients as kernels store them: regularisation is pending, and each has its unit. A view."""
        return self.pairs.real

    @property
    def units(self) -> NDArray[np.floating[Any]]:
        """The units of coefficients: see `learn.units`. A view."""
        return self.pairs.imag if self.partner == "units" else self.max_abs[:0]

    @property
    def lag(self) -> NDArray[np.floating[Any]]:
        """How far averages lag behind coefficients: see `learn.averages`. A view."""
        return self.sums.imag

    @property
    def sum_squared_gradients(self) -> NDArray[np.float64]:
        """The sums that adaptive rates follow from; a view."""
        return self.pairs.imag if self.partner == "squares" else self.sums.real

    @property
    def clock(self) -> float:
        """The weight learned so far."""
        return float(self.state[linear.CLOCK] + self.state[linear.FRACTION])

    @property
    def bias(self) -> float:
        """The intercept: it is added to the products of coefficients and features."""
        bias = float(self.state[linear.BIAS] - self._fading * self.state[linear.BIAS_LAG])
        moved = self.columns.found
        if not len(moved):
            return bias
        return bias - float(self.coefficients()[moved].astype(np.float64) @ self.columns.origins[moved])

    @property
    def _fading(self) -> float:
        """The factor of `lag` in averages."""
        power = self.settings.average_power
        if not power or self.clock == 0.0:
            return 0.0
        try:
            fading = float(self.state[linear.REFERENCE] / epochs_begun(self.clock)) ** power
        except OverflowError:
            fading = math.inf
        if fading == math.inf:
            raise ValueError("a damaged model: the times of its averages make no sense")
        return fading

    @property
    def total_weight(self) -> float:
        """The weight of the examples that the progressive loss is an average over."""
        return float(self.state[linear.WEIGHT])

    @property
    def unit(self) -> float:
        """The factor of the learning rate: the spread of the labels so far; 1 where they have no unit."""
        return float(self.label_state[target_scale.UNIT]) if len(self.label_state) else 1.0

    @property
    def rare_class_factor(self) -> float:
        """A further factor of the learning rate: above 1 where one of two classes is rare, otherwise 1."""
        return float(self.class_state[class_balance.FACTOR]) if len(self.class_state) else 1.0

    @property
    def class_steps(self) -> float:
        """The old name of `rare_class_factor`."""
        return self.rare_class_factor

    @property
    def progressive_loss(self) -> float:
        """The mean loss of predictions made before their example was learned, by weight."""
        total = self.total_weight
        return float(self.state[linear.LOSS]) / total if total > 0.0 else float("nan")

    def coefficients(self) -> NDArray[np.floating[Any]]:
        """Return the coefficients of features: a view if they are stored like that, else a copy."""
        if not self.settings.in_epochs:
            return self.raw_coefficients
        now = self.state.tobytes()
        if self._answer is None or self._answer[0] != now:
            self._answer = now, self._true_coefficients()
        return self._answer[1]

    def forget_answer(self) -> None:
        """Drop the coefficients computed for the last answer; call this before they change."""
        self._answer = None

    def _true_coefficients(self) -> NDArray[np.floating[Any]]:
        true = np.empty(self.features, self.settings.dtype)
        own_units = self.partner == "units"
        if not own_units:
            scale, l1_total = self.state[linear.SCALE], self.state[linear.L1_TOTAL]
            linear.materialise(self.raw_coefficients, scale, l1_total, self.l1_applied, true)
        for start in range(0, self.features if own_units else 0, _PIECE):
            part = slice(start, start + _PIECE)
            last, behind = self.last_and_behind(part)
            sizes = np.abs(self.units[part])
            true[part] = last - self._fading * behind
            if len(self.l1_applied):
                true[part][last == 0.0] = 0.0
            np.divide(true[part], sizes, out=true[part], where=sizes > units.TINIEST)
            true[part][sizes <= units.TINIEST] = 0.0
        return true

    def last_and_behind(self, part: Any = EVERY) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return coefficients in their units, and how far averages lag behind them, for some features or all."""
        l1_lags = self.l1_lags[part] if len(self.l1_lags) else self.l1_lags
        l1_applied = self.l1_applied[part] if len(self.l1_applied) else self.l1_applied
        return shrinkage.after_payment(
            self.raw_coefficients[part], self.lag[part], l1_applied, l1_lags, self.payments, self.state
        )

    def fix_units(self, except_for: NDArray[np.int64]) -> None:
        """Fix the unit of all features at 1, except for these; call this before anything is learned."""
        if self.settings.scaling == "standardized":
            self.unit_fill[0] = -1.0
            self.units[:] = -1.0
            self.units[except_for] = 0.0

    def set_clock(self, clock: float) -> None:
        """Continue from this clock; an open epoch has no gains so far (see `learn.clock`)."""
        state, fraction = self.state, clock % 1.0 if self.settings.in_epochs else 0.0
        state[[linear.CLOCK, linear.FRACTION]] = clock - fraction, fraction
        state[[linear.SEEN_START, linear.NORM_START]] = state[[linear.SEEN, linear.NORM]]
        state[[linear.STEEPEST, linear.BIAS_GAINED, linear.TOUCHED]] = 0.0

    def hold_gains(self) -> None:
        """Make the arrays of gains; call this before a weight is learned that is not a whole number."""
        if not len(self.gained):
            self.gained = np.zeros(self.features)
            self.touched = np.zeros(self.features + 1, np.int64)  # see `leave_open`

    def list_gains(self) -> None:
        """List the features that have gains; call this after gains were written from outside."""
        listed = np.flatnonzero(self.gained)
        self.touched[: len(listed)], self.state[linear.TOUCHED] = listed, len(listed)

    @property
    def finite(self) -> bool:
        """Whether every number is in range, so that the model can predict."""
        return bool(np.isfinite(self.raw_coefficients).all()) and self.finite_state

    @property
    def finite_state(self) -> bool:
        """Whether every scalar is in range. A sum of losses may be infinite: a wrong certainty costs that."""
        others = np.delete(self.state, linear.LOSS)
        return bool(np.isfinite(others).all() and not np.isnan(self.state[linear.LOSS]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change, by their names in files: views to read and to write."""
        return {array.name: array.of(self) for array in array_table.ARRAYS}


def epochs_begun(clocks: Any) -> Any:
    """Return how many epochs have begun at a clock, for averages; a sliver of an epoch does not count."""
    return np.maximum(np.ceil(clocks - linear.SLIVER), 1.0)
