"""`Settings`: how a model learns, everything but its numbers and the examples."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import class_balance, losses, target_scale, updates
from steelyard._field_types import is_number
from steelyard._messages import GONE, did_you_mean
from steelyard._parameters import Message, Parameter, bare
from steelyard.losses import Loss, check_soundness
from steelyard.schedules import PowerDecay

SCALINGS = ("plain", "row_norm", "adaptive", "normalized", "standardized")
SCALE_FREE = ("normalized", "standardized")
DTYPES = ("float32", "float64")
DEFAULT_RATE = 0.4  # for all scalings but the scale-free ones, whose best rate depends on the loss
# Averages stay steady with longer steps: a factor of the default rate of standardized scaling. It is not used for
# two classes, where steps are as long if one class is rare (see `class_balance`).
STEPS_OF_AVERAGES = 1.5
MOST_AVERAGE = 64
DEFAULT_AVERAGE = 8
HEAVIEST = 1e7  # the largest weight of a row, with L1 or L2


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
    """With scale-free rates: whether the unit of the labels does not matter either (see `target_scale`)."""
    follow_classes: bool = field(default=True, repr=False)
    """With standardized scaling: whether steps are longer where one class is rare (see `class_balance`)."""
    average: int | None = field(default=None, repr=False)
    """Predict with an average of the coefficients, in which time t has weight t to this power; 0: the latest.

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
                raise ValueError(
                    Message(bare(name), f" must be a finite number, 0 or more; got {getattr(self, name)!r}")
                )
        whole = is_number(self.average) and isinstance(self.average, Integral)
        if self.average is not None and not (whole and self.average in range(MOST_AVERAGE + 1)):
            raise ValueError(
                Message(bare("average"), f": a whole number from 0 to {MOST_AVERAGE}; got {self.average!r}")
            )
        if self.average and self.scaling != "standardized":
            raise ValueError(
                Message(
                    Parameter("average", self.average), " cannot go with ", Parameter("scaling", self.scaling),
                    ": averages need ", Parameter("scaling", "standardized"), "; set ", Parameter("average", 0),
                )
            )  # fmt: skip
        self.schedule()

    @property
    def rate(self) -> float:
        """The learning rate: as given, or the default."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.scaling not in SCALE_FREE:
            return DEFAULT_RATE
        averaged = self.scaling == "standardized" and not self.has_class_factor
        return (STEPS_OF_AVERAGES if averaged else 1.0) * self.loss.default_learning_rate

    @property
    def average_power(self) -> int:
        """The power of the average: as given, or the default."""
        if self.average is not None:
            return self.average
        return DEFAULT_AVERAGE if self.scaling == "standardized" else 0

    @property
    def averages_shrink(self) -> bool:
        """Whether L1 or L2 shrink coefficients that are averaged (see `shrinkage`)."""
        return self.average_power > 0 and (self.l1 > 0.0 or self.l2 > 0.0)

    @property
    def in_epochs(self) -> bool:
        """Whether some numbers change only at whole numbers of the clock (see `learn.clock`)."""
        return self.adaptive or self.l1 > 0.0 or self.l2 > 0.0

    def check_weights(self, weights: NDArray[np.float64]) -> None:
        """Refuse weights that would take for ever: L1 and L2 are paid once for each unit of weight."""
        paid_often = self.update == "invariant" and (self.l1 > 0.0 or self.l2 > 0.0)
        largest = float(weights.max(initial=0.0)) if paid_often else 0.0
        if largest > HEAVIEST:
            raise ValueError(
                Message(
                    f"a weight of {largest:g} is too large for ", bare("l1"), " and ", bare("l2"),
                    ", which are paid once for each unit of weight: divide all weights by a number, so that "
                    f"none is above {HEAVIEST:g}",
                )
            )  # fmt: skip

    def schedule(self) -> PowerDecay:
        """The learning rate over time."""
        return PowerDecay(self.rate, self.initial_t, self.power_t)

    @property
    def has_label_unit(self) -> bool:
        """Whether the learning rate follows the spread of the labels (see `learn.label_units`)."""
        return self.follow_labels and self.scaling in SCALE_FREE and target_scale.follow(self.loss)

    @property
    def has_class_factor(self) -> bool:
        """Whether the learning rate has a factor for rare classes (see `learn.rare_classes`)."""
        return self.follow_classes and self.scaling == "standardized" and class_balance.follow(self.loss)

    @property
    def adaptive(self) -> bool:
        """Whether features have learning rates of their own."""
        return self.scaling in ("adaptive", *SCALE_FREE)


def _explain_removed(init: Callable[..., None]) -> Callable[..., None]:
    """Let the constructor explain why a setting was removed."""

    @wraps(init)
    def explain(settings: Settings, *given: Any, **named: Any) -> None:
        for name in named:
            if name in GONE:
                raise TypeError(f"Settings has no parameter {name!r}: {GONE[name]}")
        init(settings, *given, **named)

    return explain


Settings.__init__ = _explain_removed(Settings.__init__)  # type: ignore[method-assign]


def _check_loss(loss: Loss) -> None:
    """Refuse losses that would not compile, in fewer words than the compiler."""
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
