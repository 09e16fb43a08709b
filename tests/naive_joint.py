"""The slow twin of the joint flow: a general solver between kinks, and the closed form along them."""

import math
from collections.abc import Callable, Sequence

from scipy.integrate import solve_ivp

from steelyard.losses import Loss
from tests.naive import NaiveLearner


def kinks(loss: Loss, y: float) -> list[float]:
    """Where the derivative jumps or changes its slope, by name: the code under test finds them itself."""
    name = type(loss).__name__
    if name in ("Hinge", "Quantile", "Ratchet"):
        return [y]
    if name == "ModifiedHuber":
        return [-1.0, 1.0]
    return [1e-6, 1.0 - 1e-6] if name in ("Logarithmic", "Hellinger") else []


def changes(
    loss: Loss, m: float, b: float, y: float, u: float, v: float, shrinkage: float
) -> tuple[float, float]:
    """What m, beyond its shrinking, and b gain in unit time along dm/dt = −(u·g + θ·m), db/dt = −v·g."""
    start, t = (m, b), 0.0
    for _ in range(10):  # there are not so many kinks
        at = [k for k in kinks(loss, y) if abs(m + b - k) < 1e-13]
        if at:
            m, b = at[0] - b, b  # on it, exactly
            below, above = loss.derivative(at[0] - 1e-9, y), loss.derivative(at[0] + 1e-9, y)
            sliding = -shrinkage * m / (u + v)
            if above - below > 0.01 and below <= sliding <= above:
                assert below <= 0.0 <= above  # so that it slides to the end
                m *= math.exp(-shrinkage * v / (u + v) * (1.0 - t))
                b, t = at[0] - m, 1.0
        if t == 1.0:
            break
        side = _side(loss, m, b, y, u, v, shrinkage, at)
        t, m, b = _until_a_kink(loss, m, b, y, u, v, shrinkage, t, side)
    return m - start[0] * math.exp(-shrinkage), b - start[1]


def _side(
    loss: Loss, m: float, b: float, y: float, u: float, v: float, shrinkage: float, at: Sequence[float]
) -> tuple[float, float]:
    """The stretch between two kinks on which p is, or into which it moves."""
    p = m + b
    if at:
        speed = -(u + v) * loss.derivative(p + 1e-9, y) - shrinkage * m
        p += math.copysign(1e-9, speed)
    ends = [-math.inf, *kinks(loss, y), math.inf]
    return max(k for k in ends if k < p), min(k for k in ends if k >= p)


def _until_a_kink(
    loss: Loss, m: float, b: float, y: float, u: float, v: float, shrinkage: float, t: float,
    side: tuple[float, float],
) -> tuple[float, float, float]:  # fmt: skip
    low, high = (k + nudge for k, nudge in zip(side, (1e-15, -1e-15), strict=True))

    def rates(t: float, state: Sequence[float]) -> list[float]:
        g = loss.derivative(min(max(state[0] + state[1], low), high), y)
        return [-(u * g + shrinkage * state[0]), -v * g]

    def passing(k: float) -> Callable[[float, Sequence[float]], float]:
        def event(t: float, state: Sequence[float]) -> float:
            return state[0] + state[1] - k

        event.terminal = True  # type: ignore[attr-defined]
        event.direction = 1.0 if k == side[1] else -1.0  # type: ignore[attr-defined]
        return event

    events = [passing(k) for k in side if math.isfinite(k)]
    solution = solve_ivp(rates, (t, 1.0), [m, b], "DOP853", events=events, rtol=2.3e-14, atol=1e-16)
    return solution.t[-1], *solution.y[:, -1]


class NaiveJointLearner(NaiveLearner):
    """Every weight is shrunk in every row."""

    def learn_row(self, x: dict[int, float], y: float, h: float) -> float:
        settings = self.settings
        m, n_x = sum(self.weights[i] * value for i, value in x.items()), sum(v * v for v in x.values())
        p, n = m + self.bias, n_x + settings.bias
        if h == 0.0:
            return p
        self.loss += h * settings.loss.value(p, y)
        self.weight += h
        pushed = settings.schedule().integral(self.clock, h)
        self.clock += h
        rate = pushed / n if settings.scaling == "row_norm" and n > 0.0 else pushed
        m_change = b_change = 0.0
        if n > 0.0:
            m_change, b_change = changes(
                settings.loss, m, self.bias, y, rate * n_x, rate * settings.bias, settings.l2 * pushed
            )
        for i in range(len(self.weights)):
            self.weights[i] *= math.exp(-settings.l2 * pushed)
            self.weights[i] += m_change / n_x * x[i] if i in x and n_x > 0.0 else 0.0
        self.bias += b_change
        return p
