"""`Loss`: what one prediction costs against one label, and how a push moves that prediction.

A loss knows nothing of features, learning rates or importance weights. All of them together reach it as one
number, the push u ≥ 0, in the equation

    dp/du = −ℓ′(p, y)

whose exact solution is the method `flow`. Every loss obeys these laws (tests/losses/test_laws.py checks them
for all losses in the registry):

- `derivative` is the slope of `value` in p, `curvature` the slope of `derivative`; ℓ is convex in p.
- `flow(p, y, u)` is the *change* of p after push u: never the new p, which would round a small
  change away. `flow(u + v)` is `flow(u)` followed by `flow(v)`, and no u crosses the minimiser.
- `implicit(p, y, u)` is the Δ with Δ = −u·ℓ′(p + Δ).
- `push_for(p, y, change)` is the u with `flow(p, y, u) == change`; infinite if there is none.
- At a kink the derivative and the curvature are those of the flat side, if there is one, otherwise 0.

Write methods as plain arithmetic with `math` and float fields, without exceptions or allocation:
kernels compile the same source. `math.exp` raises where compiled code gives infinity, so guard
its argument (`steelyard.losses.bounded_exp`).

`push_for` used to be called `time_to`, and `default_learning_rate` `untuned_rate`. The old names still work,
in subclasses that define them and in code that reads them.
"""

from dataclasses import dataclass
from typing import ClassVar

from steelyard.losses import _numeric as numeric
from steelyard.losses._labels import REAL_LINE, Interval, OneOf

_OLD_NAMES = {"push_for": "time_to", "default_learning_rate": "untuned_rate"}


@dataclass(frozen=True)
class Loss:
    """Subclass with `value` and `derivative`; closed forms of the rest are optional."""

    labels: ClassVar[Interval | OneOf] = REAL_LINE
    """The labels that the loss can be used with."""

    soft_labels: ClassVar[Interval | OneOf | None] = None
    """Further labels, allowed but without closed forms: their flow is numeric, good to 1e-9."""

    domain: ClassVar[Interval] = REAL_LINE
    """The predictions that mean something. Every loss is finite and convex outside it too."""

    smooth: ClassVar[bool] = True
    """Whether the curvature is informative. Second-order updates exist for smooth losses only."""

    default_learning_rate: ClassVar[float] = 0.5
    """A learning rate that does well without tuning under normalized scaling: see docs/defaults.md."""

    untuned_rate: ClassVar[float] = default_learning_rate
    """The old name of `default_learning_rate`."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, old_name in _OLD_NAMES.items():
            if old_name in vars(cls) and name not in vars(cls):
                setattr(cls, name, vars(cls)[old_name])
            elif name in vars(cls) and old_name not in vars(cls):
                setattr(cls, old_name, vars(cls)[name])

    def allows(self, y: float) -> bool:
        """Whether y is a label for this loss."""
        return y in self.labels or (self.soft_labels is not None and y in self.soft_labels)

    def labels_in_words(self) -> str:
        """Describe all labels that it allows, for messages."""
        return str(self.labels) if self.soft_labels is None else f"{self.labels}, or {self.soft_labels}"

    def value(self, p: float, y: float) -> float:
        """ℓ(p, y)."""
        raise NotImplementedError(f"{type(self).__name__} must define value(p, y)")

    def derivative(self, p: float, y: float) -> float:
        """∂ℓ/∂p."""
        raise NotImplementedError(f"{type(self).__name__} must define derivative(p, y)")

    def curvature(self, p: float, y: float) -> float:
        """∂²ℓ/∂p²."""
        return numeric.curvature(self, p, y)

    def flow(self, p: float, y: float, u: float) -> float:
        """The change of p under dp/du = −ℓ′(p, y) for a push of u."""
        return numeric.flow(self, p, y, u)

    def implicit(self, p: float, y: float, u: float) -> float:
        """The Δ with Δ = −u·ℓ′(p + Δ, y)."""
        return numeric.implicit(self, p, y, u)

    def push_for(self, p: float, y: float, change: float) -> float:
        """The push with which the flow makes this change."""
        return numeric.push_for(self, p, y, change)

    time_to = push_for

    def probability(self, p: float, y: float) -> float:
        """The probability of the label y, one of two. Defined only if predictions determine one."""
        raise NotImplementedError(
            f"{type(self).__name__} has no probabilities: it defines no probability(p, y)"
        )
