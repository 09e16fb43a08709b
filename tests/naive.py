"""The slow twin of the kernels: one row at a time, in plain Python, with nothing lazy and nothing clever."""

import math
from typing import Any

import numpy as np
from scipy import sparse

from steelyard import updates
from steelyard.losses import class_labels
from steelyard.model import Settings
from tests.naive_units import NaiveUnits, mean_square_of, when


class NaiveLearner:
    """What the kernels must compute."""

    def __init__(self, settings: Settings, features: int) -> None:
        self.settings = settings
        self.weights = [0.0] * features
        self.squares = [0.0] * features
        self.scales = [0.0] * features
        self.base = 0.0
        self.labels: list[tuple[float, float]] = []  # those seen, each with its weight
        self.unit, self.unit_set_at = (0.0, 0.0) if settings.in_label_units else (1.0, math.inf)
        self.units = NaiveUnits(settings.bias) if settings.scaling == "standardized" else None
        self.class_weights, self.class_steps = (0.0, 0.0), 1.0  # of the first label and of the second
        self.lags = [0.0] * features  # what averages lag behind, but for their divisor
        self.bias_lag = 0.0
        self.bias = self.bias_squares = self.clock = self.norm = self.seen = self.loss = self.weight = 0.0

    def learn(self, matrix: Any, labels: Any, sample_weight: Any, offsets: Any = None) -> list[float]:
        rows = sparse.csr_array(matrix, dtype=float)
        rows.sum_duplicates()
        predictions = []
        for row, (y, h) in enumerate(zip(labels, sample_weight, strict=True)):
            entries = slice(rows.indptr[row], rows.indptr[row + 1])
            x = dict(zip(rows.indices[entries].tolist(), rows.data[entries].tolist(), strict=True))
            if self.settings.scaling == "normalized":
                x = {i: value if abs(value) > 1e-30 else 0.0 for i, value in x.items()}
            self.base = 0.0 if offsets is None else float(offsets[row])
            predictions.append(self.learn_row(x, float(y), float(h)))
        return predictions

    def learn_row(self, x: dict[int, float], y: float, h: float) -> float:
        settings = self.settings
        loss, update, schedule = settings.loss, updates.by_name(settings.update), settings.schedule()
        explicit = settings.update == "explicit"
        if h > 0.0 and settings.in_label_units:
            self.look_at_label(y, h)
        raw = x
        if self.units is not None:
            if h > 0.0:
                self.centre(self.units, x)
            x = {i: self.units.standard(i, value) for i, value in raw.items()}
        said = p = self.predict(x)
        if h == 0.0:
            return said
        self.loss += h * loss.value(said, y)
        self.weight += h
        pushed = schedule.rate(self.clock) * h if explicit else schedule.integral(self.clock, h)
        pushed *= self.unit * self.class_steps
        before, self.clock = self.clock, self.clock + h
        if settings.in_class_steps:
            self.look_at_class(y, h)
        if settings.scaling in ("normalized", "standardized") and loss.derivative(p, y) != 0.0:
            if self.units is None:
                self.rescale(x)
            else:
                x = self.change_units(self.units, raw)
            p = self.predict(x)
            slope = loss.derivative(p, y)
            # next to the best prediction a row fades from the mean of the norms
            near = 1e-3 * self.unit * abs(slope)
            left = 1.0 if abs(loss.value(p, y)) >= near else abs(loss.value(p, y)) / near
            self.count(x, h * left if slope else 0.0)
        slope = loss.derivative(p, y) * (h if explicit else 1.0)
        slope_squared = min(slope * slope, 1e38)
        rates, bias_rate = self.rates(x, slope_squared)
        n = sum(rates[i] * value * value for i, value in x.items()) + bias_rate * settings.bias
        if n > 0.0 and (slope_squared > 0.0 or not settings.adaptive):
            u = pushed if settings.scaling == "row_norm" else pushed * n
            change = update.change(loss, p, y, u)
            late = (
                when(before, h, change, u * slope) ** settings.average_power
                if settings.average_power
                else 0.0
            )
            for i, value in x.items():
                self.weights[i] += change / n * rates[i] * value
                self.lags[i] += late * change / n * rates[i] * value
            self.bias += change / n * bias_rate * settings.bias
            self.bias_lag += late * change / n * bias_rate * settings.bias
            drop = loss.value(p, y) - loss.value(p + change, y)
            gained = slope_squared
            if not explicit:
                tiny = drop < 1e-9 * abs(loss.value(p, y))
                gained = h * (slope_squared if tiny else min(slope_squared, drop / u))
            for i, value in x.items():
                unit = self.scales[i] if settings.scaling == "normalized" and value else 1.0
                self.squares[i] += self.square(value / unit) * gained
            self.bias_squares += gained * settings.bias
        decay = 1.0 + (pushed / self.unit if self.unit else 0.0) * settings.l2
        for i, w in enumerate(self.weights):
            shrunk = math.copysign(max(abs(w) - pushed * settings.l1, 0.0), w)
            self.weights[i] = shrunk / decay
            if settings.average_power:
                self.lags[i] += self.clock**settings.average_power * (self.weights[i] - w)
        return said

    def look_at_label(self, y: float, h: float) -> None:
        """The bias starts at the first label; the unit is the spread, found anew as the weight doubles."""
        if not self.labels and self.settings.bias:
            self.bias = y
        self.labels.append((y, h))
        total = sum(weight for _, weight in self.labels)
        centre = sum(weight * label for label, weight in self.labels) / total if self.settings.bias else 0.0
        if self.unit == 0.0 or total >= 2.0 * self.unit_set_at:
            variance = sum(weight * (label - centre) ** 2 for label, weight in self.labels) / total
            different = {label for label, _ in self.labels} | ({0.0} if not self.settings.bias else set())
            self.unit = math.sqrt(variance) if len(different) > 1 else 0.0
            self.unit_set_at = total

    def look_at_class(self, y: float, h: float) -> None:
        """Rows after this one take longer steps if a class is rare, looked at as the weight doubles."""
        low, high = class_labels(self.settings.loss)
        seen, share = sum(self.class_weights), (y - low) / (high - low)
        first, second = self.class_weights
        first, second = self.class_weights = first + h * (1.0 - share), second + h * share
        if math.floor(math.log2(max(first + second, 0.5))) != math.floor(math.log2(max(seen, 0.5))):
            rare = (first + 2.0) * (second + 2.0) / (first + second + 4.0) ** 2
            self.class_steps = 1.0 / math.sqrt(0.04 + 0.96 * 4.0 * rare)

    def predict(self, x: dict[int, float]) -> float:
        return sum(self.weights[i] * value for i, value in x.items()) + self.bias + self.base

    def square(self, z: float) -> float:
        return mean_square_of(z) if self.units is not None else z * z

    def centre(self, units: NaiveUnits, x: dict[int, float]) -> None:
        for i, old, new, origin in units.centre(x):
            if old > 0.0:
                self.bias += self.weights[i] * origin / old
                self.bias_lag += self.lags[i] * origin / old
                self.weights[i] *= new / old
                self.lags[i] *= new / old
            self.squares[i] = 0.0

    def change_units(self, units: NaiveUnits, raw: dict[int, float]) -> dict[int, float]:
        """The row in units that fit."""
        length_1 = abs(sum(value * value for value in raw.values()) - 1.0) <= 1e-4
        for i, value in raw.items():
            scale, square = units.change(i, value, length_1)
            self.weights[i] *= scale
            self.lags[i] *= scale
            self.squares[i] *= square
        return {i: units.standard(i, value) for i, value in raw.items()}

    def rescale(self, x: dict[int, float]) -> None:
        """Each feature is measured in units of its largest value so far."""
        for i, value in x.items():
            if abs(value) > self.scales[i]:
                self.weights[i] *= self.scales[i] / abs(value)
                self.squares[i] *= (self.scales[i] / abs(value)) ** 2
                self.scales[i] = abs(value)

    def count(self, x: dict[int, float], h: float) -> None:
        scales = [1.0] * len(self.scales) if self.units is not None else self.scales
        self.norm += h * (self.settings.bias + sum((v / scales[i]) ** 2 for i, v in x.items() if v))
        self.seen += h

    def rates(self, x: dict[int, float], slope_squared: float) -> tuple[dict[int, float], float]:
        if not self.settings.adaptive or slope_squared == 0.0:
            return dict.fromkeys(x, 1.0), 1.0
        common = math.sqrt(self.seen / self.norm) if self.norm > 0.0 else 1.0
        rates = {}
        for i, value in x.items():
            unit = self.scales[i] if self.settings.scaling == "normalized" else 1.0
            if value == 0.0:
                rates[i] = 0.0
            else:
                rates[i] = (
                    common / unit**2 / math.sqrt(self.squares[i] + self.square(value / unit) * slope_squared)
                )
        return rates, common / math.sqrt(self.bias_squares + slope_squared)

    @property
    def progressive_loss(self) -> float:
        return self.loss / self.weight

    def coefficients(self) -> np.ndarray:
        """Those of raw features, averaged if that is wanted."""
        if self.units is None:
            return np.array(self.weights)
        fading = (
            self.clock**-self.settings.average_power if self.settings.average_power and self.clock else 0.0
        )
        v = [weight - fading * lag for weight, lag in zip(self.weights, self.lags, strict=True)]
        if self.settings.l1:  # what L1 holds at zero is zero
            v = [own if weight else 0.0 for own, weight in zip(v, self.weights, strict=True)]
        unit = [self.units.unit.get(i, 0.0) for i in range(len(v))]
        return np.array([own / size if size > 1e-30 else 0.0 for own, size in zip(v, unit, strict=True)])

    def fading(self) -> float:
        power = self.settings.average_power
        return self.clock**-power if power and self.clock else 0.0

    def intercept(self) -> float:
        if self.units is None:
            return self.bias
        fading = (
            self.clock**-self.settings.average_power if self.settings.average_power and self.clock else 0.0
        )
        coefficients = self.coefficients()
        moved = sum(coefficients[i] * origin for i, origin in self.units.origin.items())
        return float(self.bias - fading * self.bias_lag - moved)
