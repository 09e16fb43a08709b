"""The steps on slips of the paper: what a printed formula gives, beside what it should give."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import lambertw

from paper.study import Row, Step
from steelyard import losses, updates
from steelyard.active.strategies import iwal

SLIPS, QUERIES = "slips", "slips_queries"
TIMES = (10**3, 10**4, 10**5, 10**6, 10**7)
C0 = 1e-4
_PREDICTIONS = (-3.0, -0.7, 0.2, 1.5)
_PUSHES = (1e-3, 0.2, 5.0, 100.0)
_CLOSED: dict[str, Callable[[float, float], float]] = {
    "exponential": lambda p, u: float(lambertw(u * math.exp(-p)).real),
    "logarithmic": lambda p, u: 0.5 * (math.sqrt(p * p + 4.0 * u) - p),
    "hellinger": lambda p, u: u / _cubic(p, u),
}
"""The implicit change for the label 1, in closed form."""


def steps() -> list[Step]:
    return [Step(SLIPS, "formulas", {}, formulas), Step(QUERIES, "query probabilities", {"c0": C0}, queries)]


def formulas() -> list[Row]:
    return [
        {"slip": slip, "quantity": quantity, "printed": printed, "right": right}
        for slip, quantity, printed, right in _formulas()
    ]


def _formulas() -> Iterator[tuple[str, str, float, float]]:
    for p in (0.7, -1.5):
        yield "tanh", f"s(0)·n for y = 0, p = {p:g}", p + math.atanh(_tanh_ratio(p)), 0.0
    for p in (1.5, 3.0):
        right = losses.by_name("hinge").flow(p, 1.0, 0.2)
        yield "hinge", f"change of p = {p:g}, y = 1, u = 0.2", min(0.2, 1.0 - p), right
    for name, closed in _CLOSED.items():
        loss = losses.by_name(name)
        places = _PREDICTIONS if name == "exponential" else (0.1, 0.3, 0.6)
        pushes = _PUSHES if name == "exponential" else (1e-3, 1e-2, 0.1)
        left = max(_residual(loss, closed, p, u) for p in places for u in pushes)
        yield "closed", f"{name}: how far the closed form is off the implicit equation", math.nan, left
    for name in ("squared", "logistic", "exponential", "hinge"):
        yield (
            "flip",
            f"{name}: distance to 0 after the implicit step of that importance",
            math.nan,
            _flip(name),
        )
    for name in ("hinge", "quantile"):
        yield "smooth", f"{name}: weight a + b against a, then b", math.nan, _invariance(name)
    for rate in (1.0, 0.1):
        yield "step", f"effective step for (p − y)² at η = {rate:g}", 1.0 - math.exp(-rate), _effective(rate)


def queries() -> list[Row]:
    """P at |p| = 1, squared loss, unit rows, η = t^−power; the weight of an answer is 1/P."""
    found: list[Row] = []
    for power in (0.5, 1.0):
        for t in TIMES:
            rate = t**-power
            confidence = math.log(2.0) / rate / t
            found += [
                {
                    "power": power,
                    "t": t,
                    "constants": kind,
                    "probability": float(iwal.query_probability(confidence, t, C0, kind)),
                    "rate": rate,
                }
                for kind in ("theory", "practice")
            ]
    return found


def _tanh_ratio(p: float) -> float:
    """(ω − 1)/(ω + 1) with ω₀ as printed, at u = 0, where W(exp(e^2p + 2p)) = e^2p."""
    omega = float(lambertw(math.exp(math.exp(2.0 * p) + 2.0 * p)).real)
    return (omega - 1.0) / (omega + 1.0)


def _cubic(p: float, u: float) -> float:
    """The positive root of ρ³ − pρ = u."""
    roots = np.roots([1.0, 0.0, -p, -u])
    return float(max(roots[np.abs(roots.imag) < 1e-9].real))


def _residual(loss: losses.Loss, closed: Callable[[float, float], float], p: float, u: float) -> float:
    change = closed(p, u)
    return abs(change + u * loss.derivative(p + change, 1.0)) / change if p + change < 1.0 or p < 0.0 else 0.0


def _flip(name: str) -> float:
    """The importance that flips a prediction under implicit updates, u = −Δ/ℓ′(p + Δ), put to the test."""
    loss, implicit = losses.by_name(name), updates.by_name("implicit")
    worst = 0.0
    for p in (0.1, 0.7, 2.0):
        push = p / loss.derivative(0.0, -1.0)  # Δ = −p
        worst = max(worst, abs(p + implicit.change(loss, p, -1.0, push)))
    return worst


def _invariance(name: str) -> float:
    loss = losses.by_name(name)
    worst = 0.0
    for p in _PREDICTIONS:
        for u in _PUSHES:
            first = loss.flow(p, 1.0, 0.3 * u)
            worst = max(worst, abs(first + loss.flow(p + first, 1.0, 0.7 * u) - loss.flow(p, 1.0, u)))
    return worst


def _effective(rate: float) -> float:
    """The rate η′ in w ← w − η′·∇ℓ, whose slope is 2(p − y): half of what the flow takes from the residual."""
    return 0.5 * (1.0 - math.exp(-2.0 * rate))
