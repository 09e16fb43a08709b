"""A loss of your own: Huber's, which lets no outlier pull harder than `delta`."""

from dataclasses import dataclass

import numpy as np

from steelyard import OnlineRegressor
from steelyard.losses import Loss


@dataclass(frozen=True)
class Huber(Loss):
    """½(p − y)² up to a distance of delta, and straight from there on."""

    delta: float = 1.0

    def value(self, p: float, y: float) -> float:
        distance = abs(p - y)
        if distance <= self.delta:
            return 0.5 * distance * distance
        return self.delta * (distance - 0.5 * self.delta)

    def derivative(self, p: float, y: float) -> float:
        return min(max(p - y, -self.delta), self.delta)


def main() -> None:
    random = np.random.default_rng(0)
    truth = np.array([2.0, -1.0, 0.5])
    X = random.normal(size=(20_000, 3))
    y = X @ truth + 0.1 * random.normal(size=20_000)
    y[::10] += 50.0 * X[::10, 1]  # every tenth label is spoiled

    for loss in ("squared", Huber(delta=0.1)):
        regressor = OnlineRegressor(loss, dtype="float64").fit(X, y)
        print(loss, "finds", regressor.coef_.round(1))


if __name__ == "__main__":
    main()
