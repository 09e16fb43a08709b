"""The slow twin of `learn.rate_flow`: its differential equation over the weight, as SciPy solves it."""

import math

import numpy as np
from scipy.integrate import solve_ivp

from tests.naive import NaiveLearner


class NaiveFlow(NaiveLearner):
    """Rates fall while a row is learned."""

    def learn_row(self, x: dict[int, float], y: float, h: float) -> float:
        """In parts, where steps follow the classes: cut where the weight seen reaches a power of two."""
        if not self.settings.in_class_steps or h == 0.0:
            return self.learn_part(x, y, h)
        said = []
        end = sum(self.class_weights) + h
        while end - sum(self.class_weights) > 1e-12 * end:
            now = sum(self.class_weights)
            part = min(end, 2.0 ** (math.floor(math.log2(now)) + 1) if now >= 1.0 else 1.0) - now
            said.append(self.learn_part(x, y, part))
            self.look_at_class(y, part)
        return said[0]

    def learn_part(self, x: dict[int, float], y: float, h: float) -> float:
        settings, loss = self.settings, self.settings.loss
        raw = x
        if self.units is not None:
            if h > 0.0:
                self.centre(self.units, x)
            x = {i: self.units.standard(i, value) for i, value in raw.items()}
        said = p = self.predict(x)
        if h == 0.0:
            return said
        if settings.scaling != "adaptive" and loss.derivative(p, y) != 0.0:
            if self.units is None:
                self.rescale(x)
            else:
                x = self.change_units(self.units, raw)
            p = self.predict(x)
        sizes = {i: self.scales[i] or 1.0 if settings.scaling == "normalized" else 1.0 for i in x}
        features = list(x)
        z = np.array([x[i] / sizes[i] for i in features] + [float(settings.bias)])
        m = np.array([self.square(value) for value in z])
        q = float(z @ z)
        normed = settings.scaling != "adaptive"
        if normed and self.seen == 0.0:
            self.seen, self.norm = 1.0, q
        slope = loss.derivative(p, y)
        near = 1e-3 * abs(slope)
        share = min(1.0, abs(loss.value(p, y)) / near) if slope else 0.0
        floor = share * slope * slope * (self.seen / self.norm if normed else 1.0)
        squares = np.array([self.squares[i] for i in features] + [self.bias_squares])
        squares = np.maximum(squares, floor * m)
        power, clock, seen, norm = settings.average_power, self.clock, self.seen, self.norm
        count = len(z)

        def speeds(v: float, now: np.ndarray) -> np.ndarray:
            moved, gained = now[:count], now[-1]
            slope = loss.derivative(p + float(z @ moved), y)
            stretch = (seen + v) / (norm + v * q) if normed else 1.0
            divisors = np.sqrt(np.maximum(squares + m * gained, 1.2e-38))
            speed = -settings.rate * self.class_steps * stretch * slope * z / divisors
            late = speed * (clock + v) ** power if power else 0.0 * speed
            return np.concatenate([speed, late, [stretch * slope * slope]])

        done = solve_ivp(speeds, (0.0, h), np.zeros(2 * count + 1), "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        for k, i in enumerate(features):
            self.weights[i] += done[k] / sizes[i]
            self.lags[i] += done[count + k]
            self.squares[i] = squares[k] + m[k] * done[-1]
        self.bias += done[count - 1]
        self.bias_lag += done[2 * count - 1]
        self.bias_squares = squares[-1] + m[-1] * done[-1]
        if normed:
            self.seen, self.norm = seen + h, norm + h * q
        self.clock += h
        assert math.isfinite(self.bias)
        return said
