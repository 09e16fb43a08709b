"""Probabilities fitted to progressive predictions: against a plain twin, whatever the chunks are."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from steelyard import OnlineClassifier, losses, model_file
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.engine.protocol import new_engine
from steelyard.estimators.fitted import fitted_state
from steelyard.examples import examples
from steelyard.losses import class_labels, decision_point
from steelyard.scoring import probabilities
from steelyard.settings import Settings
from tests.estimators import data

X, Y = data.classes(300)
ALONE = np.ones(1)
HUBER = losses.by_name("modified_huber")


def plain_cost(
    predictions: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64], name: str
) -> Callable[[float, float], float]:
    """The twin: all rows are kept, those that count are picked, and the likelihood is that of each row."""
    loss = losses.by_name(name)
    clock, began, before = 0.0, 0.0, 0.0
    for h in weights[weights > 0.0]:
        if clock >= 2.0 * began:
            before, began = began, clock
        clock += h
    times = np.cumsum(weights) - weights
    counted = (weights > 0.0) & (times >= before)
    classes = predictions.shape[1] if predictions.shape[1] > 1 else 2
    own = labels[:, None] == (class_labels(loss)[1] if classes == 2 else np.arange(classes))
    centred = predictions - decision_point(loss)
    margins = np.where(own, centred, -centred)[counted].ravel()
    copies = np.repeat(weights[counted], predictions.shape[1])
    low, high = class_labels(loss)
    margins, copies = np.append(margins, (high - low) / 2), np.append(copies, 1.0)
    doubt = 1.0 / (copies.sum() + 2.0)

    def cost(slope: float, curvature: float) -> float:
        log_odds = slope * margins / (1.0 + curvature * np.abs(margins))
        lost = np.logaddexp(0.0, -log_odds) + doubt * log_odds
        return float(copies @ lost) + math.log1p(curvature)

    return cost


def least(cost: Callable[[float, float], float]) -> float:
    """Of all slopes and curvatures."""
    starts = [(0.5, 0.01), (3.0, 0.1), (3.0, 1.0), (10.0, 3.0)]
    found = [
        minimize(lambda at: cost(*np.exp(np.clip(at, -30.0, 30.0))), np.log(start), method="Nelder-Mead")
        for start in starts
    ]
    return min(float(each.fun) for each in found)


def drawn(
    count: int, classes: int, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(count)
    low, high = class_labels(losses.by_name(name))
    scale, centre = (high - low) / 2, decision_point(losses.by_name(name))
    predictions = random.normal(size=(count, classes if classes > 2 else 1)) * scale + centre
    if classes > 2:
        labels = (predictions + random.normal(size=predictions.shape)).argmax(axis=1).astype(float)
    else:
        labels = np.where(predictions[:, 0] + scale * random.normal(size=count) > centre, high, low)
    weights = random.choice([0.0, 0.5, 1.0, 7.0], size=count)
    labels[weights == 0.0] = np.nan
    return predictions, labels, weights


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("name", ["modified_huber", "hellinger"])
@pytest.mark.parametrize("count", [3, 40, 3000])
def test_the_curve_is_as_likely_as_that_of_the_plain_twin(count: int, name: str, classes: int) -> None:
    rows = drawn(count, classes, name)
    found = ProgressiveCalibration.begin(losses.by_name(name), 1, classes)
    found.add(*rows)
    sigmoids = found.sigmoids(ALONE)
    assert sigmoids is not None
    assert len(sigmoids) == (classes if classes > 2 else 1)
    slope, shift, bend = sigmoids[-1]
    cost = plain_cost(*rows, name)
    assert cost(-slope, bend * -slope) == pytest.approx(least(cost), rel=1e-3)
    assert shift == pytest.approx(-slope * decision_point(losses.by_name(name)))


def test_log_odds_that_are_bent_are_found() -> None:
    """Predictions far off are no better than others: what enormous numbers in a column do."""
    random = np.random.default_rng(0)
    margins = random.normal(size=(20_000, 1)) * np.where(random.random((20_000, 1)) < 0.1, 100.0, 1.0)
    true = probabilities.class_probabilities(HUBER, margins[:, 0], [[-5.0, 0.0, 0.4]])
    labels = np.where(random.random(20_000) < true[:, 1], 1.0, -1.0)
    found = ProgressiveCalibration.begin(HUBER, 1, 2)
    found.add(margins, labels, np.ones(20_000))
    sigmoids = found.sigmoids(ALONE)
    assert sigmoids is not None
    chances = probabilities.class_probabilities(HUBER, margins[:, 0], sigmoids)
    np.testing.assert_allclose(chances, true, atol=0.03)


def test_log_odds_stay_below_their_limit_and_numbers() -> None:
    beyond = np.array([-np.inf, -1e300, 0.0, 1e300, np.inf])
    chances = probabilities.class_probabilities(HUBER, beyond, [[-5.0, 0.0, 0.5]])[:, 1]
    assert chances == pytest.approx(1.0 / (1.0 + np.exp([2.0, 2.0, 0.0, -2.0, -2.0])))


def test_chunks_change_nothing() -> None:
    predictions, labels, weights = drawn(500, 2, "hinge")
    whole, parts = (ProgressiveCalibration.begin(losses.by_name("hinge"), 1, 2) for _ in range(2))
    whole.add(predictions, labels, weights)
    for cut in np.split(np.arange(500), [1, 2, 100, 333]):
        parts.add(predictions[cut], labels[cut], weights[cut])
        assert parts.sigmoids(ALONE) is not None or not weights[cut].any()
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(array, parts.arrays()[name])
    assert whole.sigmoids(ALONE) == parts.sigmoids(ALONE)


def test_each_setting_has_its_own_slope_and_one_that_diverged_adds_nothing() -> None:
    predictions, labels, weights = drawn(500, 2, "modified_huber")
    both = np.column_stack((predictions, 2.0 * predictions, np.full(500, np.nan)))
    found = ProgressiveCalibration.begin(HUBER, 3, 2)
    assert found.sigmoids(np.ones(3)) is None
    found.add(both, labels, weights)
    one, two, dead, half = (found.sigmoids(np.array(each)) for each in (*np.eye(3), [0.5, 0.5, 0.0]))
    assert one is not None
    assert two is not None
    assert dead is not None
    assert half is not None
    assert one[0][0] == pytest.approx(2.0 * two[0][0], rel=0.02)
    assert half[0][0] == pytest.approx(one[0][0] / 1.5, rel=0.02), "their mean is 1.5 times as large"
    assert not found.bins[2].any()


def test_a_few_predictions_out_of_all_bounds_do_not_outweigh_the_others() -> None:
    predictions, labels, weights = drawn(3000, 2, "modified_huber")
    usual = ProgressiveCalibration.begin(HUBER, 1, 2)
    usual.add(predictions, labels, weights)
    predictions[[-1, -2]] = [[-1e300], [np.inf]]
    labels[[-1, -2]], weights[[-1, -2]] = [1.0, -1.0], 1.0
    unusual = ProgressiveCalibration.begin(HUBER, 1, 2)
    unusual.add(predictions, labels, weights)
    with_them, without = unusual.sigmoids(ALONE), usual.sigmoids(ALONE)
    assert with_them is not None
    assert without is not None
    assert with_them[0][0] == pytest.approx(without[0][0], rel=0.3)


def test_predictions_that_were_wrong_throughout_are_never_turned_round() -> None:
    found = ProgressiveCalibration.begin(HUBER, 1, 2)
    found.add(np.full((100, 1), 0.9), np.full(100, -1.0), np.ones(100))
    sigmoids = found.sigmoids(ALONE)
    assert sigmoids is not None
    assert -0.01 < sigmoids[0][0] < 0.0


@pytest.mark.parametrize("settings", [1, 2])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_engine_gives_its_predictions_in_the_order_of_learning(classes: int, settings: int) -> None:
    labels = np.where(Y > 0, 1.0, -1.0) if classes == 2 else np.arange(300.0) % 3
    rows = examples(X, labels)
    order = np.random.default_rng(0).permutation(300)
    engines = [new_engine([Settings(HUBER)] * settings, classes, X.shape[1]) for _ in range(2)]
    shuffled = engines[0].learn(rows, order, predictions=True)
    np.testing.assert_array_equal(shuffled, engines[1].learn(rows.take(order), predictions=True))


@pytest.mark.parametrize("parameters", [{}, {"learning_rate": "auto"}, {"shuffle": False}])
@pytest.mark.parametrize("classes", [2, 3])
def test_only_the_first_pass_counts(classes: int, parameters: dict[str, Any]) -> None:
    y = Y if classes == 2 else np.arange(300) % 3
    once = OnlineClassifier(**parameters).fit(X, y)
    often = OnlineClassifier(passes=3, **parameters).fit(X, y)
    again = OnlineClassifier(warm_start=True, **parameters).fit(X, y)
    first = fitted_state(again).calibration
    again.fit(X, y)
    assert first is fitted_state(again).calibration
    assert first == fitted_state(once).calibration == fitted_state(often).calibration
    assert first is not None
    assert first.time[0] == 300.0
    assert first != fitted_state(OnlineClassifier(**parameters).fit(X[:200], y[:200])).calibration


@pytest.mark.parametrize("classes", [2, 3])
def test_going_on_in_parts_and_from_files(classes: int, tmp_path: Path) -> None:
    y = Y if classes == 2 else np.arange(300) % 3
    whole = OnlineClassifier(passes=1, shuffle=False).fit(X, y)
    parts = OnlineClassifier().partial_fit(X[:100], y[:100], classes=np.unique(y))
    parts.save(tmp_path / "model")
    parts = OnlineClassifier.load(tmp_path / "model").partial_fit(X[100:], y[100:])
    assert parts.calibration_ == whole.calibration_
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(whole.classes_[whole.predict_proba(X).argmax(axis=1)], whole.predict(X))
    assert model_file.load(tmp_path / "model").calibration is not None
    calibration = fitted_state(parts).calibration
    with pytest.raises(ValueError, match="has the label"):
        parts.partial_fit(X[:2], [y[0], 17])
    assert fitted_state(parts).calibration is calibration


def test_a_file_from_before_stays_as_it_was(tmp_path: Path) -> None:
    classifier = OnlineClassifier(calibrate=False).fit(X, Y)
    classifier.save(tmp_path / "model")
    content = model_file.load(tmp_path / "model")
    del content.parameters["calibrate"]
    model_file.save(tmp_path / "model", content)
    loaded = OnlineClassifier.load(tmp_path / "model").partial_fit(X, Y)
    assert loaded.calibrate
    assert not hasattr(loaded, "calibration_")
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.partial_fit(X, Y).predict_proba(X))


@pytest.mark.parametrize("broken", ["bins", "time"])
def test_a_damaged_file(broken: str, tmp_path: Path) -> None:
    OnlineClassifier().fit(X, Y).save(tmp_path / "model")
    content = model_file.load(tmp_path / "model")
    content.progressive_calibration[broken] = np.zeros(5)
    model_file.save(tmp_path / "model", content)
    with pytest.raises(ValueError, match=f"a damaged model: its calibration has no '{broken}' that fits"):
        OnlineClassifier.load(tmp_path / "model")


def test_a_weight_is_that_many_copies_and_none_is_no_row() -> None:
    """What is counted, that is; what was predicted differs, as copies are predicted one after another."""
    predictions, labels, _ = drawn(64, 2, "modified_huber")
    labels = np.where(np.isnan(labels), 1.0, labels)
    heavy, copies = (ProgressiveCalibration.begin(HUBER, 1, 2) for _ in range(2))
    heavy.add(predictions, labels, np.full(64, 4.0))
    copies.add(np.repeat(predictions, 4, axis=0), np.repeat(labels, 4), np.ones(256))
    one, other = heavy.sigmoids(ALONE), copies.sigmoids(ALONE)
    assert one is not None
    assert other is not None
    assert one[0] == pytest.approx(other[0], rel=1e-6)
    before = heavy.bins.copy()
    heavy.add(predictions, labels, np.zeros(64))
    np.testing.assert_array_equal(heavy.bins, before)
