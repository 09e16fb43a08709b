"""Losses with one mistake each, and the laws that must notice it: a check that cannot fail proves nothing."""

import math
from dataclasses import dataclass

from steelyard.losses.hinge import Hinge
from steelyard.losses.logistic import Logistic
from steelyard.losses.squared import Squared


@dataclass(frozen=True)
class SlopeOff(Squared):
    """The derivative of (p − y)² under the value ½(p − y)²."""

    caught_by = "derivative_is_slope_of_value"

    def derivative(self, p: float, y: float) -> float:
        return 2.0 * (p - y)


@dataclass(frozen=True)
class CurvatureOff(Squared):
    caught_by = "curvature_is_slope_of_derivative"

    def curvature(self, p: float, y: float) -> float:
        return 1.0 + 1e-9


@dataclass(frozen=True)
class Concave(Squared):
    caught_by = "loss_is_convex"

    def derivative(self, p: float, y: float) -> float:
        return -(p - y)


@dataclass(frozen=True)
class TwelveDigits(Squared):
    """Right to twelve digits, which is not enough."""

    caught_by = "flow_solves_the_equation"

    def flow(self, p: float, y: float, u: float) -> float:
        return (p - y) * math.expm1(-u * (1.0 + 1e-12))


@dataclass(frozen=True)
class ImplicitInsteadOfFlow(Squared):
    caught_by = "flow_is_a_semigroup"

    def flow(self, p: float, y: float, u: float) -> float:
        return self.implicit(p, y, u)


@dataclass(frozen=True)
class Overshoots(Hinge):
    """The hinge as it is sometimes printed, without the case yp ≥ 1: it would pull back to the hinge."""

    caught_by = "no_update_crosses_the_minimiser"

    def flow(self, p: float, y: float, u: float) -> float:
        return y * min(u, 1.0 - y * p)


@dataclass(frozen=True)
class TooFast(Hinge):
    caught_by = "small_push_follows_the_gradient"

    def flow(self, p: float, y: float, u: float) -> float:
        return 2.0 * super().flow(p, y, u)


@dataclass(frozen=True)
class Cancels(Logistic):
    """The textbook formula with the change as a difference of two large numbers."""

    caught_by = "flow_lies_between_implicit_and_explicit"

    def flow(self, p: float, y: float, u: float) -> float:
        return (p + super().flow(p, y, u)) - p


@dataclass(frozen=True)
class TimeOff(Squared):
    caught_by = "push_for_is_the_push_the_flow_takes"

    def push_for(self, p: float, y: float, change: float) -> float:
        return -2.0 * math.log1p(-change / (y - p))


@dataclass(frozen=True)
class TimeIsNotInverse(Logistic):
    caught_by = "push_for_inverts_every_update"

    def push_for(self, p: float, y: float, change: float) -> float:
        return super().push_for(p, y, change) * (1.0 + 1e-9)


@dataclass(frozen=True)
class GoesAnywhere(Hinge):
    caught_by = "push_for_is_infinite_where_the_flow_never_gets"

    def push_for(self, p: float, y: float, change: float) -> float:
        return abs(change)


@dataclass(frozen=True)
class NotARoot(Logistic):
    caught_by = "implicit_is_stationary"

    def implicit(self, p: float, y: float, u: float) -> float:
        return self.flow(p, y, u)


@dataclass(frozen=True)
class NotTheFlow(Hinge):
    caught_by = "implicit_is_invariant_without_curvature"

    def implicit(self, p: float, y: float, u: float) -> float:
        return 0.5 * self.flow(p, y, u)


ALL = [cls() for cls in list(vars().values()) if hasattr(cls, "caught_by")]
