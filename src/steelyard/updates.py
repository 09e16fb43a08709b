"""Updates: ways to integrate dp/du = −ℓ′(p, y) for a push of u.

- `invariant` follows the exact flow. Two pushes in a row equal one push of their sum, so a weight of h is
  exactly h copies.
- `implicit` steps with the slope at the end of the step (backward Euler).
- `second_order` is `implicit` with the slope replaced by its tangent.
- `explicit` steps with the slope at the start (forward Euler): the gradient times the weight.

To add one, add it to the table below; kernels find updates by name.

>>> from steelyard import losses, updates
>>> squared = losses.by_name("squared")
>>> updates.by_name("explicit").change(squared, 0.0, 1.0, 50.0)
50.0
>>> updates.by_name("invariant").change(squared, 0.0, 1.0, 50.0)
1.0
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from steelyard._messages import did_you_mean
from steelyard.losses import Loss

Integrator = Callable[[Loss, float, float, float], float]


@dataclass(frozen=True)
class Update:
    """An integrator and its inverse, as plain functions that kernels can compile."""

    name: str
    step: Integrator
    time: Integrator
    needs_curvature: bool = False
    freezes_rate: bool = (
        False  # the rate does not decay within a step: it is that at the start times the weight
    )

    def change(self, loss: Loss, p: float, y: float, u: float) -> float:
        """The change of p under a push of u ≥ 0."""
        self.check(loss)
        if not loss.allows(y):
            raise ValueError(
                f"{type(loss).__name__} loss takes the label {loss.labels_in_words()}; got {y!r}"
            )
        if not 0.0 <= u < math.inf:
            raise ValueError(f"the push u must be finite, 0 or more; got {u!r}")
        return self.step(loss, p, y, u)

    def push_for(self, loss: Loss, p: float, y: float, change: float) -> float:
        """The least u that makes this change; infinite if none does."""
        self.check(loss)
        return 0.0 if change == 0.0 else self.time(loss, p, y, change)

    def check(self, loss: Loss) -> None:
        """Raise a ValueError if this loss has no such update."""
        if self.needs_curvature and not loss.smooth:
            raise ValueError(
                f"{type(loss).__name__} has no {self.name} update: it is made of straight lines, so its "
                f"curvature says nothing; use one of {', '.join(names_for(loss))}"
            )


def _explicit(loss: Loss, p: float, y: float, u: float) -> float:
    return -u * loss.derivative(p, y)


def _explicit_time(loss: Loss, p: float, y: float, change: float) -> float:
    return _quotient(change, loss.derivative(p, y))


def _implicit(loss: Loss, p: float, y: float, u: float) -> float:
    return loss.implicit(p, y, u)


def _implicit_time(loss: Loss, p: float, y: float, change: float) -> float:
    """The update solved for u: −Δ/ℓ′(p + Δ)."""
    end = p + change
    slope = loss.derivative(end, y)
    if slope * math.copysign(1.0, change) >= 0.0 and math.isfinite(loss.push_for(p, y, change)):
        # a kink, reached in finite time: the slope on p's side of it counts
        end -= math.copysign(1e-15 * (abs(end) + abs(change)), change)
        slope = loss.derivative(end, y)
    return _quotient(change, slope)


def _second_order(loss: Loss, p: float, y: float, u: float) -> float:
    # −u·ℓ′/(1 + u·ℓ″), in a form in which u·ℓ′ cannot overflow
    return -loss.derivative(p, y) / (1.0 / u + loss.curvature(p, y)) if u > 0.0 else 0.0


def _second_order_time(loss: Loss, p: float, y: float, change: float) -> float:
    slope = loss.derivative(p, y)
    bend = change * loss.curvature(p, y)
    return _quotient(change, slope + bend) if abs(bend) < abs(slope) else math.inf


def _invariant(loss: Loss, p: float, y: float, u: float) -> float:
    return loss.flow(p, y, u)


def _invariant_time(loss: Loss, p: float, y: float, change: float) -> float:
    return loss.push_for(p, y, change)


def _quotient(change: float, slope: float) -> float:
    """Return −Δ/slope for a step downhill, else infinity."""
    downhill = change * math.copysign(1.0, slope) < 0.0 and slope != 0.0
    return -change / slope if downhill else math.inf


_updates = {
    update.name: update
    for update in (
        Update("explicit", _explicit, _explicit_time, freezes_rate=True),
        Update("implicit", _implicit, _implicit_time),
        Update("second_order", _second_order, _second_order_time, needs_curvature=True),
        Update("invariant", _invariant, _invariant_time),
    )
}


def names() -> list[str]:
    """The names of all updates."""
    return list(_updates)


def names_for(loss: Loss) -> list[str]:
    """The names of the updates that this loss can have."""
    return [name for name, update in _updates.items() if loss.smooth or not update.needs_curvature]


def by_name(name: str) -> Update:
    """The update called `name`."""
    update = _updates.get(name)
    if update is None:
        hint = did_you_mean(name, names())
        raise ValueError(f"there is no update {name!r}; the updates are {', '.join(names())}{hint}")
    return update
