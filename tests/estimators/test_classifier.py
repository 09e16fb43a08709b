"""The classifier: labels of every kind, decisions, probabilities, classes in chunks."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from steelyard import OnlineClassifier, losses
from steelyard.losses import UNIT_INTERVAL, Loss, OneOf
from tests.estimators import data

X, Y = data.classes(300)
LABELS = {
    "numbers": np.array([3, 8]),
    "floats": np.array([-1.0, 1.0]),
    "truth values": np.array([False, True]),
    "strings": np.array(["ham", "spam"]),
    "objects": np.array(["ham", "spam"], dtype=object),
    "pandas": np.array(["ham", "spam"], dtype=object),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(kind: str) -> None:
    y: Any = LABELS[kind][Y]
    classifier = OnlineClassifier().fit(X, pd.Series(y) if kind == "pandas" else y)
    assert classifier.classes_.tolist() == LABELS[kind].tolist()
    assert classifier.score(X, y) > 0.95
    assert classifier.predict(X).dtype == classifier.classes_.dtype
    np.testing.assert_array_equal(classifier.coef_, OnlineClassifier().fit(X, Y).coef_)


@pytest.mark.parametrize("name", losses.names())
def test_every_loss_classifies(name: str) -> None:
    classifier = OnlineClassifier(name, scaling="row_norm", learning_rate=0.1, passes=3, shuffle=True).fit(
        X, Y
    )
    assert classifier.score(X, Y) > 0.9
    decisions = classifier.decision_function(X)
    np.testing.assert_array_equal(classifier.predict(X), (decisions > 0.0).astype(int))
    if hasattr(classifier, "predict_proba"):
        probabilities = classifier.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        np.testing.assert_array_equal(probabilities[:, 1] > 0.5, decisions > 0.0)


def test_probabilities_are_those_of_the_loss() -> None:
    classifier = OnlineClassifier(loss="logistic", calibrate=False).fit(X, Y)
    expected = 1.0 / (1.0 + np.exp(-classifier.decision_function(X)))
    np.testing.assert_allclose(classifier.predict_proba(X)[:, 1], expected, rtol=1e-12)


def test_no_probabilities_and_why() -> None:
    classifier = OnlineClassifier("hinge", calibrate=False)
    message = "Hinge loss has no probabilities; use loss='logistic', or fit with calibrate=True"
    for each in (classifier, OnlineClassifier("hinge", calibrate=False).fit(X, Y)):
        assert not hasattr(each, "predict_proba")
        with pytest.raises(AttributeError, match=message):
            each.predict_proba(X)
    with pytest.raises(AttributeError, match="no calibration_: probabilities are those of the loss"):
        _ = each.calibration_
    assert hasattr(OnlineClassifier("hinge"), "predict_proba")


def test_a_label_that_is_no_class_is_named() -> None:
    classifier = OnlineClassifier().partial_fit(X, LABELS["strings"][Y], classes=["ham", "spam"])
    with pytest.raises(ValueError, match="row 1 has the label 'eggs': the classes are 'ham' and 'spam'"):
        classifier.partial_fit(X[:2], ["ham", "eggs"])


def test_one_class_in_a_chunk_is_enough() -> None:
    classifier = OnlineClassifier(class_weight={0: 2.0}).partial_fit(X[Y == 0], Y[Y == 0], classes=[1, 0])
    assert classifier.classes_.tolist() == [0, 1]
    assert classifier.weight_summary_.total == 2.0 * np.sum(Y == 0)
    classifier.partial_fit(X[Y == 1], Y[Y == 1], classes=[0, 1])
    assert classifier.weight_summary_.total == 2.0 * np.sum(Y == 0) + np.sum(Y == 1)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (None, r"first call of partial_fit must name all classes"),
        ([1], r"of 1 class: \[1\]; two classes or more are needed"),
        ([0, 0, 1], "named twice"),
    ],
)
def test_classes_must_be_two_or_more(classes: list[int] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OnlineClassifier().partial_fit(X, Y, classes=classes)


def test_classes_cannot_change() -> None:
    with pytest.raises(ValueError, match=r"the classes are \[0, 1\] and cannot become \[0, 2\]: fit a new"):
        OnlineClassifier().fit(X, Y).partial_fit(X, Y, classes=[0, 2])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(300), r"of 1 class: \[0.0\]; two classes or more are needed"),
        (np.where(Y == 1, np.nan, 0.0), "row [0-9]+ has the label nan: labels must not be NaN or infinite"),
        (np.linspace(0.0, 1.0, 300), "Unknown label type: continuous"),
        (np.where(Y == 1, 0.5, 1.5), "Unknown label type: continuous"),
        ([], "there are 300 rows|class"),
    ],
    ids=["one", "NaN", "continuous", "halves", "none"],
)
def test_labels_must_be_classes(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OnlineClassifier().fit(X, y)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({2: 1.0}, r"class_weight has 2, which is not a class; the classes are \[0, 1\]"),
        ({1: -1.0}, "the class weight of 1 must be finite and not negative; got -1.0"),
        ("fair", "class_weight must be None, a dict or 'balanced'; got 'fair'"),
    ],
)
def test_class_weights_are_checked(class_weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OnlineClassifier(class_weight=class_weight).fit(X, Y)


class Own(Loss):
    """Squared loss, for labels that are set below."""

    def value(self, p: float, y: float) -> float:
        return 0.5 * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return p - y


def test_a_loss_with_a_pair_of_its_own() -> None:
    class Pair(Own):
        labels = OneOf((2.0, -2.0))

        def probability(self, p: float, y: float) -> float:
            return min(max(0.5 + 0.125 * p * y, 0.0), 1.0)

    classifier = OnlineClassifier(Pair()).fit(X, Y)
    assert classifier.score(X, Y) > 0.9
    np.testing.assert_array_equal(classifier.predict_proba(X)[:, 1] > 0.5, classifier.predict(X) == 1)


@pytest.mark.parametrize("labels", [UNIT_INTERVAL, OneOf((1.0,))], ids=str)
def test_a_loss_without_a_pair(labels: Any) -> None:
    cls = type("Single", (Own,), {"labels": labels})
    with pytest.raises(ValueError, match=r"Single loss takes .*: use OnlineRegressor"):
        OnlineClassifier(cls()).fit(X, Y)
