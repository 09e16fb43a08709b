"""`Settings`: how a model learns. `Model`: its coefficients, accumulators and clock (see `model_file`)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import array_table, class_balance, losses, target_scale, updates
from steelyard._field_types import is_number
from steelyard._messages import GONE, did_you_mean
from steelyard.feature_columns import FeatureColumns
from steelyard.learn import linear, shrinkage, units
from steelyard.losses import Loss, check_soundness
from steelyard.schedules import PowerDecay

SCALINGS = ("plain", "row_norm", "adaptive", "normalized", "standardized")
SCALE_FREE = ("normalized", "standardized")
DTYPES = ("float32", "float64")
DEFAULT_RATE = 0.4  # of every scaling but the scale-free ones, whose best one depends on the loss
# An average is steady with longer steps: the rate of standardized scaling by default, but for two classes,
# of which a rare one makes them as long (see `class_balance`).
STEPS_OF_AVERAGES = 1.5
MOST_AVERAGE = 64
DEFAULT_AVERAGE = 8
HEAVIEST = 1e7  # of the weights of rows, with L1 or L2
EVERY = slice(None)
_PIECE = 1 << 16  # coefficients that are made at a time: what they are made of stays in the caches


@dataclass(frozen=True)
class Settings:
    """How a model learns. Everything that decides its next step but the examples themselves.

    Parameters
    ----------
    loss : Loss
        The loss, such as `losses.by_name("logistic")`.
    bias : bool
        Whether there is an intercept.
    follow_labels : bool
        With scale-free rates: whether the scale of the labels should not matter either.
    follow_classes : bool
        With standardized scaling and two classes: whether steps are longer where one of them is rare.
    update, scaling, learning_rate, initial_t, power_t, l1, l2, average, dtype
        As for `OnlineClassifier`, but no "auto".

    Examples
    --------
    >>> from steelyard import Settings, losses
    >>> Settings(losses.by_name("logistic"), scaling="plain").rate
    0.4
    """

    loss: Loss = field(default_factory=lambda: losses.by_name("squared"))
    update: str = "invariant"
    scaling: str = "standardized"
    learning_rate: float | None = None
    """None: the loss's own for normalized and standardized scaling, 0.4 for the others."""
    initial_t: float = 1.0
    power_t: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    bias: bool = True
    dtype: str = "float32"
    follow_labels: bool = True
    """With scale-free rates: whether the unit of the labels shall not matter either (see `target_scale`)."""
    follow_classes: bool = field(default=True, repr=False)
    """With standardized scaling: whether steps are longer where one class is rare (see `class_balance`)."""
    average: int | None = field(default=None, repr=False)
    """Predict with an average of the coefficients, in which the time t counts as t to this power; 0: last.

    None: 8 for standardized scaling, 0 for the others.
    """

    def __post_init__(self) -> None:
        _check_loss(self.loss)
        if losses.name_of(self.loss) is None:
            check_soundness(self.loss)
        updates.by_name(self.update).check(self.loss)
        _one_of("scaling", self.scaling, SCALINGS)
        _one_of("dtype", self.dtype, DTYPES)
        for name in ("l1", "l2"):
            if not is_number(getattr(self, name)):
                raise TypeError(f"{name} must be a number; got {getattr(self, name)!r}")
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a finite number, 0 or more; got {getattr(self, name)!r}")
        whole = is_number(self.average) and isinstance(self.average, Integral)
        if self.average is not None and not (whole and self.average in range(MOST_AVERAGE + 1)):
            raise ValueError(f"average: a whole number from 0 to {MOST_AVERAGE}; got {self.average!r}")
        if self.average and self.scaling != "standardized":
            raise ValueError(
                f"average={self.average!r} cannot go with scaling={self.scaling!r}: averages need "
                "scaling='standardized'; set average=0"
            )
        self.schedule()

    @property
    def rate(self) -> float:
        """The learning rate, also where none was given."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.scaling not in SCALE_FREE:
            return DEFAULT_RATE
        averaged = self.scaling == "standardized" and not self.in_class_steps
        return (STEPS_OF_AVERAGES if averaged else 1.0) * self.loss.default_learning_rate

    @property
    def average_power(self) -> int:
        """The power of the average, also where none was given."""
        if self.average is not None:
            return self.average
        return DEFAULT_AVERAGE if self.scaling == "standardized" else 0

    @property
    def averages_shrink(self) -> bool:
        """Whether L1 or L2 shrink coefficients that are averaged (see `shrinkage`)."""
        return self.average_power > 0 and (self.l1 > 0.0 or self.l2 > 0.0)

    @property
    def in_epochs(self) -> bool:
        """Whether something stands still between whole numbers of the clock (see `learn.clock`)."""
        return self.adaptive or self.l1 > 0.0 or self.l2 > 0.0

    def check_weights(self, weights: NDArray[np.float64]) -> None:
        """Refuse what would take for ever: L1 and L2 are paid once for each unit of weight."""
        paid_often = self.update == "invariant" and (self.l1 > 0.0 or self.l2 > 0.0)
        largest = float(weights.max(initial=0.0)) if paid_often else 0.0
        if largest > HEAVIEST:
            raise ValueError(
                f"a weight of {largest:g} is too large for l1 and l2, which are paid once for each unit of "
                f"weight: divide all weights by a number, so that none is above {HEAVIEST:g}"
            )

    def schedule(self) -> PowerDecay:
        """The learning rate over time."""
        return PowerDecay(self.rate, self.initial_t, self.power_t)

    @property
    def in_label_units(self) -> bool:
        return self.follow_labels and self.scaling in SCALE_FREE and target_scale.follow(self.loss)

    @property
    def in_class_steps(self) -> bool:
        return self.follow_classes and self.scaling == "standardized" and class_balance.follow(self.loss)

    @property
    def adaptive(self) -> bool:
        return self.scaling in ("adaptive", *SCALE_FREE)


def _answering(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor, which says of a setting that is gone why it is."""

    @wraps(init)
    def answer(settings: Settings, *given: Any, **named: Any) -> None:
        for name in named:
            if name in GONE:
                raise TypeError(f"Settings has no parameter {name!r}: {GONE[name]}")
        init(settings, *given, **named)

    return answer


Settings.__init__ = _answering(Settings.__init__)  # type: ignore[method-assign]


class Model:
    """The numbers. `Learner` moves them; this class only makes and reads them."""

    def __init__(self, settings: Settings, features: int) -> None:
        self.settings, dtype = settings, settings.dtype
        self.features = features
        own_units = self.partner == "units"
        # Sums are in float64, or rounding would decide which level they have (see `learn.levels`).
        kinds: dict[str | None, Any] = {
            None: dtype, "units": np.result_type(dtype, np.complex64), "squares": np.complex128,
        }  # fmt: skip
        self.pairs = np.zeros(features, kinds[self.partner])
        """Coefficients with their partners, of which there are none with one rate for all."""
        self.sums = np.zeros(features if own_units else 0, np.complex128)
        """Sums of squared gradients and lags of averages, where coefficients have other partners."""
        self.gained, self.touched = np.zeros(0), np.zeros(0, np.int64)
        """What was gained in the epoch that is open, and which features have gained: see `learn.epochs`."""
        self.max_abs = np.zeros(features if settings.scaling == "normalized" else 0, dtype)
        """The largest |x| seen of each feature."""
        self.columns = FeatureColumns(features if own_units and settings.bias else 0, dtype)
        self.unit_fill = np.zeros(1)
        """What the unit of a feature is before it was seen: 0, or −1 where it is known to be 1."""
        self.l1_applied = np.zeros(features if settings.l1 > 0.0 else 0)
        """How much L1 each feature has already paid of the total that is due."""
        averaged_l1 = features if settings.l1 > 0.0 and settings.average_power else 0
        self.l1_lags = np.zeros(averaged_l1)
        self.payments = shrinkage.payments_for(features) if averaged_l1 else np.zeros((0, 2))
        """What averages need to know of it: see `shrinkage`."""
        self.label_state = np.zeros(target_scale.SIZE if settings.in_label_units else 0)
        self.class_state = class_balance.new_state() if settings.in_class_steps else np.zeros(0)
        self.state = np.zeros(linear.STATE_SIZE)
        self.state[linear.SCALE] = 1.0
        self._answer: tuple[bytes, NDArray[np.floating[Any]]] | None = None
        self.tame: bool | None = None
        """Whether all it has learned was of ordinary sizes, or None if nobody has looked: see `overflow`."""

    @property
    def partner(self) -> str | None:
        """What lies beside each coefficient: see `array_table`."""
        return array_table.PARTNERS.get(self.settings.scaling)

    @property
    def raw_coefficients(self) -> NDArray[np.floating[Any]]:
        """As the kernels store them, regularisation pending, in units of their own; a view."""
        return self.pairs.real

    @property
    def units(self) -> NDArray[np.floating[Any]]:
        """In which coefficients are stored: see `units`. A view."""
        return self.pairs.imag if self.partner == "units" else self.max_abs[:0]

    @property
    def lag(self) -> NDArray[np.floating[Any]]:
        """How far the average lags behind: see `averages`. A view."""
        return self.sums.imag

    @property
    def sum_squared_gradients(self) -> NDArray[np.float64]:
        """What adaptive rates are made of; a view."""
        return self.pairs.imag if self.partner == "squares" else self.sums.real

    @property
    def clock(self) -> float:
        """The weight learned so far."""
        return float(self.state[linear.CLOCK] + self.state[linear.FRACTION])

    @property
    def bias(self) -> float:
        """What is added to the products of coefficients and features."""
        bias = float(self.state[linear.BIAS] - self._fading * self.state[linear.BIAS_LAG])
        moved = self.columns.found
        if not len(moved):
            return bias
        return bias - float(self.coefficients()[moved].astype(np.float64) @ self.columns.origins[moved])

    @property
    def _fading(self) -> float:
        """What `lag` is multiplied by."""
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
    def class_steps(self) -> float:
        """Another factor of the learning rate: above 1 where one of two classes is rare; else 1."""
        return float(self.class_state[class_balance.STEPS]) if len(self.class_state) else 1.0

    @property
    def progressive_loss(self) -> float:
        """The mean loss of predictions made before their example was learned, by weight."""
        total = self.total_weight
        return float(self.state[linear.LOSS]) / total if total > 0.0 else float("nan")

    def coefficients(self) -> NDArray[np.floating[Any]]:
        """What multiplies the features: a view where it is stored so, else a copy."""
        if not self.settings.in_epochs:
            return self.raw_coefficients
        now = self.state.tobytes()
        if self._answer is None or self._answer[0] != now:
            self._answer = now, self._true_coefficients()
        return self._answer[1]

    def forget_answer(self) -> None:
        """Before coefficients change."""
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
        """Coefficients in their own units, and how far averages lag behind them; of some features, or all."""
        l1_lags = self.l1_lags[part] if len(self.l1_lags) else self.l1_lags
        l1_applied = self.l1_applied[part] if len(self.l1_applied) else self.l1_applied
        return shrinkage.paid(
            self.raw_coefficients[part], self.lag[part], l1_applied, l1_lags, self.payments, self.state
        )

    def know_units(self, own: NDArray[np.int64]) -> None:
        """Before anything is learned: all features have the unit 1, but these have their own."""
        if self.settings.scaling == "standardized":
            self.unit_fill[0] = -1.0
            self.units[:] = -1.0
            self.units[own] = 0.0

    def set_clock(self, clock: float) -> None:
        """Go on from there; if an epoch is open, nothing was gained in it so far (see `learn.clock`)."""
        state, fraction = self.state, clock % 1.0 if self.settings.in_epochs else 0.0
        state[[linear.CLOCK, linear.FRACTION]] = clock - fraction, fraction
        state[[linear.SEEN_START, linear.NORM_START]] = state[[linear.SEEN, linear.NORM]]
        state[[linear.STEEPEST, linear.BIAS_GAINED, linear.TOUCHED]] = 0.0

    def hold_gains(self) -> None:
        """Before a weight is learned that is no whole number."""
        if not len(self.gained):
            self.gained = np.zeros(self.features)
            self.touched = np.zeros(self.features + 1, np.int64)  # see `leave_open`

    def list_gains(self) -> None:
        """After gains were written from outside."""
        listed = np.flatnonzero(self.gained)
        self.touched[: len(listed)], self.state[linear.TOUCHED] = listed, len(listed)

    @property
    def finite(self) -> bool:
        """Whether every number is in range, so that the model can predict."""
        return bool(np.isfinite(self.raw_coefficients).all()) and self.finite_state

    @property
    def finite_state(self) -> bool:
        """The same of the scalars. A sum of losses may be infinite, as that of a wrong certainty truly is."""
        others = np.delete(self.state, linear.LOSS)
        return bool(np.isfinite(others).all() and not np.isnan(self.state[linear.LOSS]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changes, under the names that files have for it: views to read and to write."""
        return {array.name: array.of(self) for array in array_table.ARRAYS}


def epochs_begun(clocks: Any) -> Any:
    """How many epochs there are at a clock, for averages: an open one counts as a whole, a sliver of one does not."""
    return np.maximum(np.ceil(clocks - linear.SLIVER), 1.0)


def _check_loss(loss: Loss) -> None:
    """What a compiler would say at length."""
    for method in ("value", "derivative"):
        if getattr(type(loss), method) is getattr(Loss, method):
            raise ValueError(f"the loss {type(loss).__name__} must define {method}(p, y)")
    for name, value in vars(loss).items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise TypeError(f"the loss {type(loss).__name__} has {name}={value!r}: it must be a number")


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(
            f"there is no {what} {given!r}; it is one of {', '.join(known)}{did_you_mean(given, known)}"
        )
