"""Labels of rows that early stopping and sweeps hold out decide nothing of what is learned."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard import OnlineClassifier, OnlineRegressor, Sweep
from steelyard.engine import holdout
from steelyard.estimators import fit_passes

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(90, 3))
WEIGHTS = RANDOM.choice([1.0, 2.0, 0.0], size=90, p=[0.6, 0.2, 0.2])
LABELS = (X @ np.arange(3.0) + RANDOM.normal(size=90) > 1.5).astype(int) + (X[:, 0] > 1.0)


def flipped(labels: NDArray[Any], held: Any) -> NDArray[Any]:
    changed = labels.copy()
    changed[held] = (
        np.roll(labels, 1)[held] if labels.dtype == float else (labels[held] + 1) % len(set(labels))
    )
    return changed


def learned(estimator: Any) -> list[Any]:
    return [estimator.coef_.tolist(), np.asarray(estimator.intercept_).tolist(), estimator.weight_summary_]


@pytest.mark.parametrize("weight_scale", ["auto", "as_given", "mean_one"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}, {0: 0.0}])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("more", [{}, {"learning_rate": "auto"}, {"shuffle": False}])
def test_early_stopping(classes: int, class_weight: Any, weight_scale: str, more: dict[str, Any]) -> None:
    labels = np.minimum(LABELS, classes - 1)
    estimator = OnlineClassifier(
        early_stopping=True, passes=1, class_weight=class_weight, weight_scale=weight_scale, **more
    )
    held = np.flatnonzero(WEIGHTS)[9::10]
    one = learned(estimator.fit(X, labels, WEIGHTS))
    calibration = estimator.calibration_
    other = learned(estimator.fit(X, flipped(labels, held), WEIGHTS))
    assert one == other
    assert calibration == estimator.calibration_


def test_numbers() -> None:
    labels, held = X[:, 0] * 2.0, np.flatnonzero(WEIGHTS)[9::10]
    estimator = OnlineRegressor(early_stopping=True, passes=1)
    assert learned(estimator.fit(X, labels, WEIGHTS)) == learned(
        estimator.fit(X, flipped(labels, held), WEIGHTS)
    )


@pytest.mark.parametrize("rule", [3, 0.3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_sweep(class_weight: Any, rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor in which order many rows are learned, which depends on whether labels are sorted."""
    monkeypatch.setattr(fit_passes, "_MANY_ROWS", 10)
    held = holdout.marker(holdout.parse(rule))(len(X))
    labels = (np.arange(len(X)) % 2).astype(int)
    sweep = Sweep(
        OnlineClassifier(class_weight=class_weight), {"learning_rate": [0.1, 0.5]}, holdout=rule, refit=False
    )
    figures = []
    for given in (labels, np.where(held, 0, labels)):
        columns = sweep.fit(X, given).results_.columns
        figures.append([columns["progressive_loss"].tolist(), columns["progressive_error"].tolist()])
    assert figures[0] == figures[1]


def test_rows_held_out_without_a_weight() -> None:
    labels = np.zeros(20, int)
    labels[9::10] = 1
    with pytest.raises(ValueError, match="have a weight of 0"):
        OnlineClassifier(early_stopping=True, class_weight={1: 0.0}).fit(np.ones((20, 1)), labels)
