"""In the company of scikit-learn's other parts."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steelyard import OnlineClassifier, OnlineRegressor, losses
from tests.estimators import data
from tests.estimators.data import known

X, Y = data.classes(300)


def test_pipeline_with_weights() -> None:
    pipeline = make_pipeline(StandardScaler(), OnlineClassifier())
    pipeline.fit(X, Y, onlineclassifier__sample_weight=np.ones(300))
    assert pipeline.score(X, Y) > 0.95


def test_pipeline_over_text() -> None:
    texts, labels = ["old ham", "new spam", "ham and eggs", "spam, spam"] * 10, ["ham", "spam"] * 20
    assert make_pipeline(TfidfVectorizer(), OnlineClassifier()).fit(texts, labels).score(texts, labels) == 1.0


def test_grid_search() -> None:
    grid = {
        "loss": ["logistic", "hinge", losses.by_name("quantile", tau=0.4)],
        "learning_rate": np.logspace(-3, 1, 3),
        "passes": np.array([1, 2]),
    }
    search = GridSearchCV(OnlineClassifier(), grid, cv=3).fit(X, Y, sample_weight=np.ones(300))
    assert search.best_score_ > 0.95


def test_cross_validation_with_class_weights() -> None:
    scores = cross_val_score(OnlineClassifier(class_weight="balanced"), X, Y, cv=3, scoring="roc_auc")
    assert scores.min() > 0.95


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_calibration(loss: str) -> None:
    calibrated = CalibratedClassifierCV(OnlineClassifier(loss), cv=3).fit(X, Y, sample_weight=np.ones(300))
    assert calibrated.score(X, Y) > 0.95


def test_adaboost() -> None:
    """It hands out weights that sum to 1: as given they would teach next to nothing."""
    base = OnlineClassifier(weight_scale="mean_one", scaling="normalized", passes=1)
    booster = AdaBoostClassifier(base, n_estimators=2, random_state=0)
    assert booster.fit(X, Y).score(X, Y) > 0.95
    alone = clone(booster.estimators_[0]).fit(X, Y, np.full(300, 1 / 300))
    np.testing.assert_allclose(booster.estimators_[0].coef_, alone.coef_, rtol=1e-6)


def test_one_against_the_rest() -> None:
    three = np.digitize(data.numbers(300)[1], [-1.0, 1.0])
    model = OnlineClassifier(scaling="normalized")
    wrapped = OneVsRestClassifier(model).fit(X, three)
    assert wrapped.score(X, three) > 0.6
    assert np.mean(wrapped.predict(X) == model.fit(X, three).predict(X)) > 0.99


def test_bagging() -> None:
    _, y = data.numbers(300)
    assert BaggingRegressor(OnlineRegressor(), n_estimators=3, random_state=0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("loss", ["logistic", losses.by_name("quantile", tau=0.9)], ids=str)
def test_parameters_and_clones(loss: Any) -> None:
    classifier = OnlineClassifier(loss, l1=0.25).fit(X, Y)
    other = clone(classifier)
    assert other.get_params() == classifier.get_params()
    assert not hasattr(other, "model_")
    assert other.set_params(loss="hinge", l1=0.0).get_params()["loss"] == "hinge"
    assert repr(OnlineClassifier("hinge", l1=0.25)) == "OnlineClassifier(l1=0.25, loss='hinge')"


@pytest.mark.parametrize("how", [copy.deepcopy, lambda estimator: pickle.loads(pickle.dumps(estimator))])
def test_copies_go_on_alone(how: Any) -> None:
    classifier = OnlineClassifier("hinge").fit(X, Y)
    before = known(classifier)
    other = how(classifier)
    assert known(other) == before
    assert known(other.partial_fit(X, Y)) != before
    assert known(classifier) == before
    assert known(classifier.partial_fit(X, Y)) == known(other)
