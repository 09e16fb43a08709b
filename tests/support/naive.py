"""The slow twin of the kernels: epoch by epoch, in plain Python, with nothing lazy, joined or clever.

An epoch is one unit of the clock, which is the weight learned so far. What must be the same for a row of
weight 2 and two of weight 1 changes when an epoch ends, and at no other time.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from steelyard import updates
from steelyard.losses import class_labels
from steelyard.settings import Settings
from tests.support.naive_clock import LARGEST, SLIVER, NaiveClock, level_of, octave, off_edges
from tests.support.naive_units import NaiveClasses, NaiveLabels, NaiveUnits, mean_square_of

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)


class NaiveLearner:
    """What the kernels must compute."""

    def __init__(self, settings: Settings, features: int) -> None:
        self.settings = settings
        self.update = updates.by_name(settings.update)
        self.cut = settings.update == "invariant"
        self.now = NaiveClock()
        self.weights = [0.0] * features  # of raw features, but those of standardized scaling, in their units
        self.lags = [0.0] * features  # what averages lag behind, but for their divisor
        self.squares = [0.0] * features
        self.gained = [0.0] * features  # in the epoch that is open
        self.scales = [0.0] * features
        self.bias = self.bias_lag = self.bias_squares = self.bias_gained = 0.0
        self.steepest = 0.0  # the largest squared slope of the epoch
        self.seen = self.norm = 0.0
        self.seen_before = self.norm_before = 0.0  # when the level of time began
        self.owed = 0.0  # the push for which L1 and L2 have not been paid, without rates of each feature
        self.base = self.loss = self.weight = 0.0
        self.units = NaiveUnits(settings.bias) if settings.scaling == "standardized" else None
        self.labels = NaiveLabels(settings.bias) if settings.has_label_unit else None
        self.classes = NaiveClasses(*class_labels(settings.loss)) if settings.has_class_factor else None

    @property
    def clock(self) -> float:
        return float(self.now)

    def learn(self, matrix: Any, labels: Any, sample_weight: Any, offsets: Any = None) -> list[float]:
        rows = sparse.csr_array(matrix, dtype=float)
        rows.sum_duplicates()
        predictions = []
        for row, (y, h) in enumerate(zip(labels, sample_weight, strict=True)):
            entries = slice(rows.indptr[row], rows.indptr[row + 1])
            x = dict(zip(rows.indices[entries].tolist(), rows.data[entries].tolist(), strict=True))
            self.base = 0.0 if offsets is None else float(offsets[row])
            predictions.append(self.learn_row(x, float(y), float(h)))
        return predictions

    def learn_row(self, x: dict[int, float], y: float, h: float) -> float:
        if h > 0.0:
            if self.labels is not None and not self.labels.seen and self.settings.bias:
                self.bias = y
            if self.units is not None:
                self.centre(self.units, x)
        said = self.predict(x)
        if h == 0.0:
            return said
        self.loss += h * self.settings.loss.value(said, y)
        self.weight += h
        if not self.settings.adaptive:
            self.learn_with_one_rate(x, y, h)
        elif self.cut:
            self.learn_epochs(x, y, h)
        else:
            self.learn_part(x, y, Fraction(h))
        return said

    def learn_with_one_rate(self, x: dict[int, float], y: float, h: float) -> None:
        """Nothing but L1 and L2 waits for a whole number."""
        schedule, settings = self.settings.schedule(), self.settings
        left = Fraction(h)
        while left > 0:
            part = self.now.cut(left) if self.cut and (settings.l1 or settings.l2) else left
            stretch = schedule.frozen if self.update.freezes_rate else schedule.integral
            pushed = stretch(self.clock, float(part))
            n = sum(value * value for value in x.values()) + settings.bias
            if n > 0.0:
                u = pushed if settings.scaling == "row_norm" else pushed * n
                change = self.update.change(settings.loss, self.predict(x), y, u) / n
                for i, value in x.items():
                    self.weights[i] += change * value
                self.bias += change * settings.bias
            self.owed += pushed
            left = left - part if left - part > SLIVER else Fraction(0)
            if self.now.advance(part) or not self.cut:
                self.pay(self.owed)
                self.owed = 0.0

    def learn_epochs(self, x: dict[int, float], y: float, h: float) -> None:
        left = Fraction(h)
        while left > 0:
            part = self.now.cut(left)
            self.learn_part(x, y, part)
            left = left - part if left - part > SLIVER else Fraction(0)

    def learn_part(self, x: dict[int, float], y: float, h: Fraction) -> None:
        """What belongs to one epoch; a whole row, if the update is not the invariant one."""
        weight = float(h)
        if self.labels is not None and not (self.cut and self.now.between):
            self.labels.look(self.now.epoch, y, 1.0 if self.cut else weight)
        unit = self.labels.unit if self.labels is not None else 1.0
        pushed = self.settings.schedule().rate(self.now.time - 0.5) * unit
        pushed *= self.classes.factor if self.classes is not None else 1.0
        slope = self.slope(x, y, unit) if pushed > 0.0 else 0.0
        if slope != 0.0:
            self.fit_units(x)
            slope = self.slope(x, y, unit)
        z = self.standard(x)
        q = sum(value * value for value in z.values()) + self.settings.bias
        if slope != 0.0:
            steep = slope * weight if self.update.freezes_rate else slope
            self.steepest = max(self.steepest, min(steep * steep, LARGEST))
            gain = self.move(x, z, y, slope, weight, pushed, unit, q)
            for i, value in z.items():
                self.gained[i] += self.square(value) * gain
            self.bias_gained += gain * self.settings.bias
        if self.labels is not None:
            self.labels.seen.append((y, weight))
        if self.classes is not None:
            self.classes.count(y, weight)
        before = self.now.level[0]
        ended = self.now.advance(h)
        if ended or not self.cut:
            self.end_epoch(before)
            self.pay(pushed * (1.0 if self.cut else weight), unit)

    def move(
        self, x: dict[int, float], z: dict[int, float], y: float, slope: float, weight: float, pushed: float,
        unit: float, q: float,
    ) -> float:  # fmt: skip
        """Along the flow, with rates that stand still; returns what sums of squares gain for each m."""
        loss = self.settings.loss
        rates, bias_rate = self.rates(z, unit, q)
        n = bias_rate + sum(rates[i] * value * value for i, value in z.items())
        if n == 0.0:
            return 0.0
        p, speed = self.predict(x), pushed * n
        change = self.update.change(loss, p, y, speed * weight)
        power = self.settings.average_power
        late = self.now.time**power if power else 0.0
        taught = abs(change) / speed if speed else 0.0  # ∫ |ℓ′|
        self.seen += taught
        self.norm += taught * q
        for i, value in z.items():
            size = self.scales[i] if self.settings.scaling == "normalized" else 1.0
            moved = change / n * rates[i] * value
            self.weights[i] += moved / size if moved else 0.0
            self.lags[i] += late * moved
        self.bias += change / n * bias_rate
        self.bias_lag += late * change / n * bias_rate
        return self.gain(p, y, slope, change, weight, speed)

    def gain(self, p: float, y: float, slope: float, change: float, weight: float, speed: float) -> float:
        """∫ ℓ′², from the drop of the loss; where that is lost in rounding, along the way."""
        loss = self.settings.loss
        if self.update.freezes_rate:
            return min((slope * weight) ** 2, LARGEST)
        drop = loss.value(p, y) - loss.value(p + change, y)
        if drop >= 1e-5 * abs(loss.value(p, y)):
            return min(drop / speed, weight * slope * slope, LARGEST)
        most = weight * slope * slope
        if not self.cut:  # there is no way, but a beginning and an end
            halfway = abs(change * loss.derivative(p + 0.5 * change, y))
            return min(halfway / speed if speed else most, most, LARGEST)
        found = 0.0  # as ∫ ℓ′² dh is ∫ |ℓ′| |dp| divided by the speed, a kink at the end does no harm
        for node, share in zip(NODES.tolist(), NODE_WEIGHTS.tolist(), strict=True):
            found += 0.5 * share * abs(change * loss.derivative(p + 0.5 * (1.0 + node) * change, y))
        return min(found / speed if speed else most, most, LARGEST)

    def rates(self, z: dict[int, float], unit: float, q: float) -> tuple[dict[int, float], float]:
        """1/√(G + m·B), rounded to levels, times √(seen/norm)."""
        typical = abs(self.settings.loss.derivative(unit, 0.0)) if self.labels is not None else 1.0
        typical, common = typical or 1.0, 1.0
        if self.settings.scaling != "adaptive" and self.norm_before + typical * q > 0.0:
            common = math.sqrt((self.seen_before + typical) / (self.norm_before + typical * q))
        scale = off_edges(typical)
        common *= math.sqrt(scale)
        rates = {}
        for i, value in z.items():
            total = scale * (self.squares[i] + self.square(value) * self.steepest)
            rates[i] = common / math.sqrt(level_of(total))
        bias_rate = common / math.sqrt(level_of(scale * (self.bias_squares + self.steepest)))
        return rates, bias_rate * self.settings.bias

    def slope(self, x: dict[int, float], y: float, unit: float) -> float:
        """ℓ′; 0 where the prediction has all but arrived where it comes to rest."""
        loss, p = self.settings.loss, self.predict(x)
        slope = loss.derivative(p, y)
        moved = p - self.bias - self.base
        near = (1e-12 if self.settings.dtype == "float64" else 1e-6) * (unit + abs(moved)) + 1e-12 * abs(p)
        beyond = loss.derivative(p - math.copysign(near, slope), y)
        return slope if beyond * slope > 0.0 else 0.0

    def end_epoch(self, level: int) -> None:
        """What was gained counts from now on, and perhaps a level of time begins."""
        for i, gained in enumerate(self.gained):
            self.squares[i] = min(self.squares[i] + gained, LARGEST)
        self.bias_squares = min(self.bias_squares + self.bias_gained, LARGEST)
        self.gained = [0.0] * len(self.gained)
        self.bias_gained = self.steepest = 0.0
        if self.now.level[0] != level:
            self.seen_before, self.norm_before = self.seen, self.norm
            if self.classes is not None and octave(self.now.epoch) > octave(level):
                self.classes.look()

    def pay(self, pushed: float, unit: float = 1.0) -> None:
        """L1 and L2 of an epoch."""
        settings, power = self.settings, self.settings.average_power
        decay = 1.0 + (pushed / unit if unit else 0.0) * settings.l2
        for i, w in enumerate(self.weights):
            shrunk = math.copysign(max(abs(w) - pushed * settings.l1, 0.0), w) / decay
            self.lags[i] += self.clock**power * (shrunk - w) if power else 0.0
            self.weights[i] = shrunk

    def predict(self, x: dict[int, float]) -> float:
        z = x if self.units is None else self.standard(x)
        if self.settings.scaling == "normalized":
            z = {i: value for i, value in x.items() if abs(value) > 1e-30}
        return sum(self.weights[i] * value for i, value in z.items()) + self.bias + self.base

    def standard(self, x: dict[int, float]) -> dict[int, float]:
        """The row in the units of features."""
        if self.units is not None:
            return {i: self.units.standard(i, value) for i, value in x.items()}
        if self.settings.scaling == "adaptive":
            return x
        return {i: value / self.scales[i] if self.scales[i] > 1e-30 else 0.0 for i, value in x.items()}

    def square(self, z: float) -> float:
        return mean_square_of(z) if self.units is not None else z * z

    def centre(self, units: NaiveUnits, x: dict[int, float]) -> None:
        for i, old, new, origin in units.centre(x):
            if old > 0.0:
                self.bias += self.weights[i] * origin / old
                self.bias_lag += self.lags[i] * origin / old
                self.weights[i] *= new / old
                self.lags[i] *= new / old
            self.squares[i] = self.gained[i] = 0.0

    def fit_units(self, x: dict[int, float]) -> None:
        """Other units where values do not fit: only a row that teaches something changes them."""
        length_1 = abs(sum(value * value for value in x.values()) - 1.0) <= 1e-4
        for i, value in x.items():
            scale = square = 1.0
            if self.units is not None:
                scale, square = self.units.change(i, value, length_1)
            elif self.settings.scaling == "normalized" and abs(value) > max(self.scales[i], 1e-30):
                scale = self.scales[i] / abs(value)
                square = scale * scale
                self.scales[i] = abs(value)
            self.weights[i] *= scale
            self.lags[i] *= scale
            self.squares[i] *= square
            self.gained[i] *= square

    @property
    def progressive_loss(self) -> float:
        return self.loss / self.weight

    def fading(self) -> float:
        """What lags are divided by: an epoch that is open counts as a whole."""
        power = self.settings.average_power
        return float(math.ceil(self.clock)) ** -power if power and self.clock else 0.0

    def coefficients(self) -> np.ndarray:
        """Those of raw features, averaged if that is wanted."""
        if self.units is None:
            return np.array(self.weights)
        v = [weight - self.fading() * lag for weight, lag in zip(self.weights, self.lags, strict=True)]
        if self.settings.l1:  # what L1 holds at zero is zero
            v = [own if weight else 0.0 for own, weight in zip(v, self.weights, strict=True)]
        unit = [self.units.unit.get(i, 0.0) for i in range(len(v))]
        return np.array([own / size if size > 1e-30 else 0.0 for own, size in zip(v, unit, strict=True)])

    def intercept(self) -> float:
        if self.units is None:
            return self.bias
        coefficients = self.coefficients()
        moved = sum(coefficients[i] * origin for i, origin in self.units.origin.items())
        return float(self.bias - self.fading() * self.bias_lag - moved)
