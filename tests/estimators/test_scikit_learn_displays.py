"""Curves, displays and meta-estimators of scikit-learn, each with a bare estimator."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import StackingClassifier
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import (
    DetCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    f1_score,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multioutput import ClassifierChain

from steelyard import OnlineClassifier
from tests.estimators import data

X, Y = data.classes(300)
BARE = OnlineClassifier().fit(X, Y)


@pytest.fixture(autouse=True)
def no_screen() -> Iterator[None]:
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.mark.parametrize("response", ["auto", "predict_proba", "decision_function"])
@pytest.mark.parametrize("display", [RocCurveDisplay, PrecisionRecallDisplay, DetCurveDisplay])
def test_curves(display: Any, response: str) -> None:
    drawn = display.from_estimator(BARE, X, Y, response_method=response)
    assert drawn.ax_.lines
    area = getattr(drawn, "roc_auc", getattr(drawn, "average_precision", None))
    assert area is None or area > 0.98


def test_calibration() -> None:
    drawn = CalibrationDisplay.from_estimator(BARE, X, Y, n_bins=5)
    np.testing.assert_array_equal(drawn.y_prob, BARE.predict_proba(X)[:, 1])


@pytest.mark.parametrize("response", ["auto", "predict", "predict_proba", "decision_function"])
@pytest.mark.parametrize("classes", [2, 3])
def test_decision_boundaries(classes: int, response: str) -> None:
    rows, labels = data.several_classes(100, classes)
    fitted = OnlineClassifier().fit(rows[:, :2], labels)
    drawn = DecisionBoundaryDisplay.from_estimator(
        fitted, rows[:, :2], grid_resolution=5, response_method=response
    )
    assert drawn.response.shape[:2] == (5, 5)


def test_stacking() -> None:
    stack = StackingClassifier([("a", OnlineClassifier()), ("b", OnlineClassifier("logistic"))], cv=2)
    assert stack.fit(X, Y).score(X, Y) > 0.95
    assert stack.stack_method_ == ["predict_proba", "predict_proba"]
    assert stack.transform(X).shape == (300, 2)


def test_chains() -> None:
    both = np.column_stack([Y, X[:, 0] > 0.0]).astype(int)
    for response in ("predict", "predict_proba", "decision_function"):
        chain = ClassifierChain(OnlineClassifier(), chain_method=response, cv=2).fit(X, both)
        assert chain.predict_proba(X).shape == (300, 2)


@pytest.mark.parametrize("response", ["auto", "predict_proba", "decision_function"])
def test_thresholds(response: str) -> None:
    tuned = TunedThresholdClassifierCV(OnlineClassifier(), response_method=response, cv=2, thresholds=10)
    assert tuned.fit(X, Y).score(X, Y) > 0.85
    fixed = FixedThresholdClassifier(OnlineClassifier(), threshold=0.5, response_method=response)
    assert fixed.fit(X, Y).score(X, Y) > 0.9


@pytest.mark.parametrize("response", ["predict_proba", "decision_function", ("decision_function", "predict")])
def test_scorers(response: Any) -> None:
    score = make_scorer(roc_auc_score, response_method=response)(BARE, X, Y)
    assert score > 0.98
    assert make_scorer(f1_score, response_method="predict")(BARE, X, Y) > 0.95
    proba = make_scorer(log_loss, response_method="predict_proba")(BARE, X, Y)
    assert proba == pytest.approx(log_loss(Y, BARE.predict_proba(X)))


def test_names_of_methods() -> None:
    assert BARE.predict_proba.__name__ == "predict_proba"
    assert BARE.predict_log_proba.__name__ == "predict_log_proba"


@pytest.mark.parametrize("calibrate", [True, False])
def test_logarithms(calibrate: bool) -> None:
    fitted = OnlineClassifier(calibrate=calibrate).fit(X, Y)
    with np.errstate(divide="ignore"):
        expected = np.log(fitted.predict_proba(X))
    np.testing.assert_array_equal(fitted.predict_log_proba(X), expected)
    with pytest.raises(AttributeError, match="Hinge loss has no probabilities"):
        _ = OnlineClassifier("hinge", calibrate=False).predict_log_proba
