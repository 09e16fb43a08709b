"""Figures of merit in constant memory, against scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from steelyard import losses
from steelyard.scoring.metrics import Metrics, finite
from steelyard.scoring.scores import Meaning
from tests.scoring.test_ranked_scores import NOISE, POSITIVE, SCORES, WEIGHTS

TWO = ["-1", "1"]
THREE = ["a", "b", "c"]


def test_predictions_of_any_size_are_ranked() -> None:
    """Also those beyond float32, and zeros of either sign."""
    metrics = Metrics(Meaning(losses.by_name("hinge"), TWO))
    predictions = np.array([-1e300, -1e30, -1.0, -1e-30, -0.0, 0.0, 1e-40, 1e-30, 1.0, 1e30, 1e300])
    labels = np.where(predictions < 1e-35, -1.0, 1.0)
    metrics.add(predictions, labels, np.ones(len(labels)))
    assert metrics.result()["auc"] == 1.0
    assert metrics.result()["accuracy"] == pytest.approx(10 / 11)


def test_chunks_make_no_difference() -> None:
    generator = np.random.default_rng(0)
    predictions, weights = generator.normal(size=1000), generator.exponential(size=1000)
    labels = np.where(predictions + generator.normal(size=1000) > 0.0, 1.0, -1.0)
    results = []
    for parts in (1, 7):
        metrics = Metrics(Meaning(losses.by_name("logistic"), TWO))
        for rows_of in np.array_split(np.arange(1000), parts):
            metrics.add(predictions[rows_of], labels[rows_of], weights[rows_of])
        results.append(metrics.result())
    assert results[0]["auc"] == pytest.approx(results[1]["auc"], rel=1e-12)
    assert results[0]["loss"] == pytest.approx(results[1]["loss"], rel=1e-12)
    assert results[0]["calibration"][3]["weight"] == pytest.approx(results[1]["calibration"][3]["weight"])


def test_nothing_to_compare_with() -> None:
    with pytest.raises(ValueError, match="nothing to compare with"):
        Metrics(Meaning(losses.by_name("squared"), None)).result()


def test_an_infinite_error_is_no_number() -> None:
    metrics = Metrics(Meaning(losses.by_name("squared"), None))
    metrics.add(np.array([1e308, 0.0]), np.array([-1e308, 0.0]), np.ones(2))
    result = metrics.result()
    assert (result["loss"], result["rmse"]) == (None, None)
    assert [finite(value) for value in (None, np.nan, 1.5)] == [None, None, 1.5]


def test_more_than_two_classes() -> None:
    """Confusion, precision, recall, F1, log loss and the loss of one against the rest, all weighted."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 3, 300)
    predictions = generator.normal(size=(300, 3)) + 1.5 * np.eye(3)[codes]
    weights = generator.exponential(size=300) * (generator.random(300) > 0.1)
    loss = losses.by_name("logistic")
    metrics = Metrics(Meaning(loss, THREE))
    for part in np.array_split(np.arange(300), 4):
        metrics.add(predictions[part], codes[part].astype(float), weights[part])
    found, guessed = metrics.result(), predictions.argmax(axis=1)
    expected = sklearn_metrics.precision_recall_fscore_support(codes, guessed, sample_weight=weights)
    for name, column in zip(("precision", "recall", "f1", "weight"), expected, strict=True):
        assert [row[name] for row in found["classes"]] == pytest.approx(column)
    assert [row["class"] for row in found["classes"]] == THREE
    assert found["macro_f1"] == pytest.approx(
        sklearn_metrics.f1_score(codes, guessed, sample_weight=weights, average="macro")
    )
    confusion = sklearn_metrics.confusion_matrix(codes, guessed, sample_weight=weights)
    assert np.array(found["confusion"]) == pytest.approx(confusion)
    wrong = sorted(confusion[~np.eye(len(confusion), dtype=bool)].tolist(), reverse=True)
    assert [pair["weight"] for pair in found["confusions"]] == pytest.approx(wrong[:10])
    assert found["accuracy"] == pytest.approx(np.trace(confusion) / weights.sum())
    chances = 1.0 / (1.0 + np.exp(-predictions))
    chances /= chances.sum(axis=1, keepdims=True)
    assert found["log_loss"] == pytest.approx(
        sklearn_metrics.log_loss(codes, chances, sample_weight=weights), rel=1e-6
    )
    signs = np.where(np.eye(3)[codes] == 1.0, 1.0, -1.0)
    values = np.log1p(np.exp(-signs * predictions)).mean(axis=1)
    assert found["loss"] == pytest.approx(np.average(values, weights=weights), rel=1e-9)
    assert found["most_frequent_class"] == THREE[int(np.argmax(np.bincount(codes, weights)))]
    assert "auc" not in found
    top = chances.max(axis=1)
    observed = np.array([(row["weight"], row["predicted"], row["observed"]) for row in found["calibration"]])
    assert observed[:, 0].sum() == pytest.approx(weights.sum())
    assert (observed[:, 0] * observed[:, 1]).sum() == pytest.approx(weights @ top)
    assert (observed[:, 0] * observed[:, 2]).sum() == pytest.approx(weights @ (guessed == codes))


def test_a_class_that_never_comes_has_no_figures() -> None:
    metrics = Metrics(Meaning(losses.by_name("hinge"), THREE))
    metrics.add(np.eye(3)[[0, 0]], np.array([0.0, 0.0]), np.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = metrics.result()
    assert found["classes"][0] == {"class": "a", "precision": 1.0, "recall": 1.0, "f1": 1.0, "weight": 2.0}
    assert found["classes"][1] == {"class": "b", "precision": None, "recall": None, "f1": None, "weight": 0.0}
    assert found["macro_f1"] == 1.0
    assert "log_loss" not in found


@pytest.mark.parametrize("calibration", [None, [[-2.0, 0.5, 0.0]], [[-2.0, 0.5, 0.25]]])
def test_log_loss_of_two_classes(calibration: list[list[float]] | None) -> None:
    """By the probabilities of the loss, or by those of a calibrated model, whatever its loss."""
    generator = np.random.default_rng(2)
    predictions, weights = generator.normal(size=200), generator.exponential(size=200)
    labels = np.where(predictions + generator.normal(size=200) > 0.0, 1.0, -1.0)
    metrics = Metrics(
        Meaning(losses.by_name("logistic" if calibration is None else "hinge"), TWO, calibration)
    )
    metrics.add(predictions, labels, weights)
    slope, shift, bend = (-1.0, 0.0, 0.0) if calibration is None else calibration[0]
    margins = slope * predictions + shift
    chances = 1.0 / (1.0 + np.exp(margins / (1.0 + bend * np.abs(margins))))
    expected = sklearn_metrics.log_loss(labels > 0.0, chances, sample_weight=weights)
    assert metrics.result()["log_loss"] == pytest.approx(expected)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_hostile_scores(scores: str, weights: str) -> None:
    """Nearly equal, huge and tiny ones, with such weights: as scikit-learn, whose weights are of one size."""
    predictions, weight = SCORES[scores], WEIGHTS[weights]
    metrics = Metrics(Meaning(losses.by_name("hinge"), TWO))
    metrics.add(predictions, np.where(POSITIVE, 1.0, -1.0), weight)
    found, share = metrics.result(), weight / weight.max()
    assert found["auc"] == pytest.approx(
        sklearn_metrics.roc_auc_score(POSITIVE, predictions, sample_weight=share), rel=1e-12
    )
    assert found["accuracy"] == pytest.approx(
        sklearn_metrics.accuracy_score(POSITIVE, predictions > 0.0, sample_weight=share), rel=1e-12
    )
    expected = sklearn_metrics.f1_score(
        POSITIVE, predictions > 0.0, sample_weight=share, average=None, zero_division=0.0
    )
    assert [row["f1"] for row in found["classes"]] == pytest.approx(expected)


@pytest.mark.no_cover
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("unit", [1e-250, 1e-162, 1.0, 1e153, 1e250])
@pytest.mark.parametrize("origin", [0.0, 1.0, 1e7])
@pytest.mark.parametrize("first", [0.0, 5.0])
def test_hostile_numbers(first: float, origin: float, unit: float, weights: str) -> None:
    """Labels far from 0, or the first far from all others, in units of any size."""
    labels = origin + NOISE
    labels[0] = origin + first
    predictions, weight = labels + 0.3 * POSITIVE, WEIGHTS[weights]
    metrics = Metrics(Meaning(losses.by_name("squared"), None))
    metrics.add(unit * predictions, unit * labels, weight)
    found, share = metrics.result(), weight / weight.max()
    plain = labels, predictions
    rmse = sklearn_metrics.mean_squared_error(*plain, sample_weight=share) ** 0.5
    assert found["r2"] == pytest.approx(sklearn_metrics.r2_score(*plain, sample_weight=share), rel=1e-6)
    assert found["mae"] / unit == pytest.approx(
        sklearn_metrics.mean_absolute_error(*plain, sample_weight=share), rel=1e-6
    )
    assert found["rmse"] / unit == pytest.approx(rmse, rel=1e-6)
