"""Squared Hellinger distance between a predicted probability and the label."""

import math
from dataclasses import dataclass

from steelyard.losses._unit_interval import EDGE, TOP, UnitIntervalLoss

STEEPEST = 1e3  # the slope at EDGE: 1/√EDGE


@dataclass(frozen=True)
class Hellinger(UnitIntervalLoss):
    """(√p − √y)² + (√(1−p) − √(1−y))², which is 2(1 − √p) for the label 1. Bounded in (0, 1)."""

    default_learning_rate = 15.0

    def value(self, p: float, y: float) -> float:
        inside = min(max(p, EDGE), TOP)
        one = math.sqrt(inside) - math.sqrt(y)
        zero = math.sqrt(1.0 - inside) - math.sqrt(1.0 - y)
        tangent = math.sqrt(y) * max(0.0, EDGE - p) + math.sqrt(1.0 - y) * max(0.0, p - TOP)
        return one * one + zero * zero + tangent * STEEPEST

    def derivative(self, p: float, y: float) -> float:
        if p <= EDGE:
            return -math.sqrt(y) * STEEPEST
        if p >= TOP:
            return math.sqrt(1.0 - y) * STEEPEST
        slopes = math.sqrt(y / p) + math.sqrt((1.0 - y) / (1.0 - p))
        return (p - y) / (p * (1.0 - p) * slopes)

    def curvature(self, p: float, y: float) -> float:
        if not EDGE < p < TOP:
            return 0.0
        r = 1.0 - p
        return 0.5 * (math.sqrt(y / p) / p + math.sqrt((1.0 - y) / r) / r)

    def rise(self, a: float, limit: float, u: float) -> float:
        straight = max(0.0, EDGE - a)
        if u <= straight / STEEPEST:
            return u * STEEPEST
        v = min(u - straight / STEEPEST, 1.0)  # a push of ⅔ crosses the whole interval
        b = max(a, EDGE)
        grown = 2.0 / 3.0 * math.log1p(1.5 * v / (b * math.sqrt(b)))  # log of (b + Δ)/b
        return min(limit, straight + b * math.expm1(grown))

    def implicit_rise(self, a: float, limit: float, u: float) -> float:
        # Δ = u/ρ, where ρ = √(a + Δ) is the root of ρ³ − aρ = u. Newton from above, where the cubic
        # is convex: every step comes closer and none passes the root. Unlike the trigonometric
        # formula of the cubic this also holds for a ≤ 0.
        if u <= max(0.0, EDGE - a) / STEEPEST:
            return u * STEEPEST
        if u >= limit:  # the slope is at least 1 all the way
            return limit
        rho = math.sqrt(max(a, 0.0)) + math.pow(u, 1.0 / 3.0)
        step = rho
        while step > 1e-9 * rho:
            step = (rho * (rho * rho - a) - u) / (3.0 * rho * rho - a)
            rho -= step
        return min(limit, u / rho)

    def push_for_rise(self, a: float, limit: float, change: float) -> float:
        if not 0.0 <= change <= limit:
            return math.inf
        straight = min(change, max(0.0, EDGE - a))
        rest = change - straight
        b = max(a, EDGE)
        r = b + rest
        bent = rest * (r + b + math.sqrt(r * b)) / (math.sqrt(r) + math.sqrt(b))
        return straight / STEEPEST + 2.0 / 3.0 * bent
