"""The best constant against brute force, for every loss."""

import numpy as np
import pytest

from steelyard import losses
from steelyard.engine import totals
from steelyard.engine.totals import LabelWeights
from steelyard.losses import Loss
from tests.support.streams import labels_for


def brute_force(loss: Loss, labels: np.ndarray, weights: np.ndarray) -> float:
    """The least average loss of constants on a grid, made finer and finer."""

    def average(p: float) -> float:
        values = [loss.value(p, y) for y in labels.tolist()]
        return float(np.average(values, weights=weights))

    low, high = max(loss.domain.low, -20.0), min(loss.domain.high, 20.0)
    best = low
    for _ in range(8):
        grid = np.linspace(low, high, 41)
        best = float(grid[np.argmin([average(p) for p in grid.tolist()])])
        low, high = max(low, best - (high - low) / 20), min(high, best + (high - low) / 20)
    return average(best)


@pytest.mark.parametrize("name", losses.names())
@pytest.mark.parametrize("seed", [0, 1])
def test_no_constant_is_better(name: str, seed: int) -> None:
    loss = losses.by_name(name)
    generator = np.random.default_rng(seed)
    labels, weights = labels_for(loss, generator, 40), generator.exponential(size=40)
    counted = LabelWeights()
    for part in np.array_split(np.arange(40), 3):
        counted.add(labels[part], weights[part])
    best, value = counted.best_constant(loss)
    least = brute_force(loss, labels, weights)
    assert value == pytest.approx(least, rel=1e-6, abs=1e-9)
    assert value <= least + 1e-9
    assert value == pytest.approx(
        np.average([loss.value(best, y) for y in labels.tolist()], weights=weights), rel=1e-9
    )


@pytest.mark.parametrize("name", losses.names())
def test_one_class_alone(name: str) -> None:
    loss = losses.by_name(name)
    counted = LabelWeights()
    counted.add(np.ones(3), np.ones(3))
    _, value = counted.best_constant(loss)
    assert value == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_labels_of_any_size(scale: float) -> None:
    counted = LabelWeights()
    counted.add(scale * np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 2.0]))
    assert counted.best_constant(losses.by_name("squared"))[0] == pytest.approx(3.75 * scale, rel=1e-9)


def test_nothing_known() -> None:
    counted = LabelWeights()
    counted.add(np.array([np.nan, 1.0]), np.zeros(2))
    assert np.isnan(counted.best_constant(losses.by_name("squared"))).all()


def test_many_labels_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "MOST_LABELS", 64)
    generator = np.random.default_rng(0)
    labels, weights = generator.normal(size=3001), generator.exponential(size=3001)
    counted = LabelWeights()
    for part in np.array_split(np.arange(3001), 11):
        counted.add(labels[part], weights[part])
    kept = counted.arrays()
    assert len(kept["run_labels"]) <= 128
    assert kept["run_label_weights"].sum() == pytest.approx(weights.sum())
    found, _ = counted.best_constant(losses.by_name("squared"))
    assert found == pytest.approx(np.average(labels, weights=weights), abs=1e-9)
    median, _ = counted.best_constant(losses.by_name("quantile", tau=0.5))
    order = np.argsort(labels)
    middle = labels[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]
    assert median == pytest.approx(middle, abs=0.1)


def test_it_goes_on_from_arrays() -> None:
    one, two = LabelWeights(), LabelWeights()
    one.add(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    two.restore(one.arrays(), 2)
    for counted in (one, two):
        counted.add(np.array([2.0]), np.array([1.0]))
    assert (
        one.arrays()["run_label_weights"].tolist() == two.arrays()["run_label_weights"].tolist() == [3.0, 5.0]
    )
