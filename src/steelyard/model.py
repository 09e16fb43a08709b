"""`Settings`: how a model learns. `Model`: its coefficients, accumulators and clock (see `model_file`)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import losses, target_scale, updates
from steelyard._messages import did_you_mean
from steelyard.learn import linear
from steelyard.losses import Loss, check_soundness
from steelyard.schedules import PowerDecay

SCALINGS = ("plain", "row_norm", "adaptive", "normalized")
DTYPES = ("float32", "float64")
DEFAULT_RATE = 0.4  # of every scaling but normalized, whose best one depends on the loss
L2_FLOWS = ("split", "joint")


@dataclass(frozen=True)
class Settings:
    """How a model learns. Everything that decides its next step but the examples themselves."""

    loss: Loss = field(default_factory=lambda: losses.by_name("squared"))
    update: str = "invariant"
    scaling: str = "normalized"
    learning_rate: float | None = None
    """None: the loss's own for normalized scaling, 0.4 for the others."""
    initial_t: float = 1.0
    power_t: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    bias: bool = True
    dtype: str = "float32"
    follow_labels: bool = True
    """With normalized scaling: whether the unit of the labels shall not matter either (see `label_units`)."""
    l2_flow: str = "split"

    def __post_init__(self) -> None:
        _check_loss(self.loss)
        if losses.name_of(self.loss) is None:
            check_soundness(self.loss)
        updates.by_name(self.update).check(self.loss)
        _one_of("scaling", self.scaling, SCALINGS)
        _one_of("dtype", self.dtype, DTYPES)
        for name in ("l1", "l2"):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a finite number, 0 or more; got {getattr(self, name)!r}")
        _one_of("l2_flow", self.l2_flow, L2_FLOWS)
        if self.l2_flow == "joint":
            self._check_joint()
        self.schedule()

    @property
    def rate(self) -> float:
        """The learning rate, also where none was given."""
        if self.learning_rate is not None:
            return self.learning_rate
        return self.loss.default_learning_rate if self.scaling == "normalized" else DEFAULT_RATE

    def _check_joint(self) -> None:
        for ok, name, why in (
            (self.update == "invariant", "update", "only update='invariant' follows a flow"),
            (
                not self.adaptive,
                "scaling",
                "it needs one rate for all features: scaling='plain' or 'row_norm'",
            ),
            (self.l1 == 0.0, "l1", "only L2 has a joint flow: set l1=0"),
        ):
            if not ok:
                raise ValueError(f"l2_flow='joint' cannot go with {name}={getattr(self, name)!r}: {why}")

    def schedule(self) -> PowerDecay:
        return PowerDecay(self.rate, self.initial_t, self.power_t)

    @property
    def in_label_units(self) -> bool:
        return self.follow_labels and self.scaling == "normalized" and target_scale.follow(self.loss)

    @property
    def adaptive(self) -> bool:
        return self.scaling in ("adaptive", "normalized")


class Model:
    """The numbers. `Learner` moves them; this class only makes and reads them."""

    def __init__(self, settings: Settings, features: int) -> None:
        dtype = settings.dtype
        self.settings = settings
        self.features = features
        # A coefficient and its sum of squared gradients are one complex number, to be neighbours in memory.
        self.pairs = np.zeros(features, np.result_type(dtype, np.complex64) if settings.adaptive else dtype)
        self.max_abs = np.zeros(features if settings.scaling == "normalized" else 0, dtype)
        """The largest |x| seen of each feature."""
        self.l1_applied = np.zeros(features if settings.l1 > 0.0 else 0)
        """How much L1 each feature has already paid of the total that is due."""
        self.label_state = np.zeros(target_scale.SIZE if settings.in_label_units else 0)
        self.state = np.zeros(linear.STATE_SIZE)
        self.state[linear.SCALE] = 1.0

    @property
    def raw_coefficients(self) -> NDArray[np.floating[Any]]:
        """As the kernels store them, regularisation pending (`coefficients()` has it applied); a view."""
        return self.pairs.real

    @property
    def sum_squared_gradients(self) -> NDArray[np.floating[Any]]:
        """What adaptive rates are made of; a view."""
        return self.pairs.imag if self.settings.adaptive else self.pairs[:0]

    @property
    def clock(self) -> float:
        """The weight learned so far."""
        return float(self.state[linear.CLOCK])

    @property
    def bias(self) -> float:
        return float(self.state[linear.BIAS])

    @property
    def total_weight(self) -> float:
        """The weight of the examples that the progressive loss is an average over."""
        return float(self.state[linear.WEIGHT])

    @property
    def unit(self) -> float:
        """The factor of the learning rate: the spread of the labels so far; 1 where they have no unit."""
        return float(self.label_state[target_scale.UNIT]) if len(self.label_state) else 1.0

    @property
    def progressive_loss(self) -> float:
        """The mean loss of predictions made before their example was learned, by weight."""
        total = self.total_weight
        return float(self.state[linear.LOSS]) / total if total > 0.0 else float("nan")

    def coefficients(self) -> NDArray[np.floating[Any]]:
        """What multiplies the features: a view where it is stored so, else a copy."""
        if self.state[linear.SCALE] == 1.0 and not len(self.l1_applied):
            return self.raw_coefficients
        true = np.empty_like(self.raw_coefficients)
        linear.materialise(
            self.raw_coefficients,
            self.state[linear.SCALE],
            self.state[linear.L1_TOTAL],
            self.l1_applied,
            true,
        )
        return true

    @property
    def finite(self) -> bool:
        """Whether every number is in range, so that the model can predict."""
        return bool(np.isfinite(self.raw_coefficients).all() and np.isfinite(self.state).all())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changes, under the names that files have for it: views to read and to write."""
        return {
            "weights": self.raw_coefficients,
            "squares": self.sum_squared_gradients,
            "scales": self.max_abs,
            "debts": self.l1_applied,
            "label_state": self.label_state,
            "state": self.state,
        }


def _check_loss(loss: Loss) -> None:
    """What a compiler would say at length."""
    for method in ("value", "derivative"):
        if getattr(type(loss), method) is getattr(Loss, method):
            raise ValueError(f"the loss {type(loss).__name__} must define {method}(p, y)")
    for name, value in vars(loss).items():
        if not isinstance(value, int | float):
            raise TypeError(f"the loss {type(loss).__name__} has {name}={value!r}: it must be a number")


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(
            f"there is no {what} {given!r}; it is one of {', '.join(known)}{did_you_mean(given, known)}"
        )
