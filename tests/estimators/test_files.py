"""Saving and loading: nothing is lost, and learning goes on as if never stopped."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.exceptions import NotFittedError

from steelyard import Learner, OnlineClassifier, OnlineRegressor, losses
from steelyard.losses import Loss
from tests.estimators import data
from tests.estimators.data import known

X, Y = data.numbers(100)
LABELS = {
    "int": np.array([3, 8]),
    "int8": np.array([3, 8], dtype=np.int8),
    "float": np.array([-1.0, 1.0]),
    "bool": np.array([False, True]),
    "str": np.array(["ham", "spam"]),
    "object": np.array(["ham", "späm"], dtype=object),
}


class Own(Loss):
    """A user's loss."""

    def value(self, p: float, y: float) -> float:
        return 0.5 * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return p - y


@pytest.mark.parametrize("kind", LABELS)
def test_a_classifier_returns_as_it_was(tmp_path: Path, kind: str) -> None:
    y = LABELS[kind][(Y > 0.0).astype(int)]
    weights: Any = {LABELS[kind][0]: np.float32(2.0)}
    classifier = OnlineClassifier("hinge", class_weight=weights, learning_rate=np.float64(0.25)).fit(X, y)
    classifier.save(tmp_path / "model")
    loaded = OnlineClassifier.load(tmp_path / "model")
    assert known(loaded) == known(classifier)
    assert loaded.classes_.dtype == classifier.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(X), classifier.predict(X))
    assert known(loaded.partial_fit(X, y)) == known(classifier.partial_fit(X, y))


def test_a_regressor_with_names(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["größe", "b", "c", "d"])
    dtype: Any = np.float64
    regressor = OnlineRegressor(losses.by_name("quantile", tau=0.3), passes=2, dtype=dtype).fit(frame, Y)
    regressor.save(tmp_path / "model")
    loaded = OnlineRegressor.load(tmp_path / "model")
    assert known(loaded) == known(regressor) | {"dtype": "float64"}
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="names must be in the same order"):
        loaded.predict(frame[["b", "größe", "c", "d"]])


@pytest.mark.parametrize("cls", [OnlineClassifier, OnlineRegressor])
def test_there_is_nothing_to_save_before_fitting(tmp_path: Path, cls: Any) -> None:
    with pytest.raises(NotFittedError, match=f"This {cls.__name__} instance is not fitted yet"):
        cls().save(tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_a_generator_of_random_numbers_is_not_kept(tmp_path: Path) -> None:
    OnlineRegressor(random_state=np.random.RandomState(0)).fit(X, Y).save(tmp_path / "model")
    assert OnlineRegressor.load(tmp_path / "model").random_state is None


def test_a_loss_of_ones_own_is_asked_for(tmp_path: Path) -> None:
    regressor = OnlineRegressor(Own()).fit(X, Y)
    regressor.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"trained with the loss Own"):
        OnlineRegressor.load(tmp_path / "model")
    assert known(OnlineRegressor.load(tmp_path / "model", loss=Own())) == known(regressor)


def test_the_model_within_can_be_had_without_scikit_learn(tmp_path: Path) -> None:
    regressor = OnlineRegressor().fit(X, Y)
    regressor.save(tmp_path / "model")
    np.testing.assert_array_equal(Learner.load(tmp_path / "model").model.coefficients(), regressor.coef_)


def test_what_else_the_file_holds(tmp_path: Path) -> None:
    OnlineRegressor().fit(X, Y).save(tmp_path / "model")
    with safe_open(tmp_path / "model", "numpy") as file:
        extra = json.loads(file.metadata()["steelyard"])["extra"]
    assert extra["estimator"] == "OnlineRegressor"
    assert extra["parameters"]["learning_rate"] == OnlineRegressor().learning_rate


def test_a_file_from_the_days_before_errors_were_counted(tmp_path: Path) -> None:
    y = (Y > 0.0).astype(int)
    classifier = OnlineClassifier().fit(X, y)
    classifier.save(tmp_path / "new")
    with safe_open(tmp_path / "new", "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        about = json.loads(file.metadata()["steelyard"])
    assert about["extra"].pop("errors") == classifier.progressive_error_ * 100.0
    save_file(arrays, tmp_path / "old", {"steelyard": json.dumps(about)})
    old = OnlineClassifier.load(tmp_path / "old")
    np.testing.assert_array_equal(old.partial_fit(X, y).coef_, classifier.partial_fit(X, y).coef_)
    assert np.isnan(old.progressive_error_)
    assert old.progressive_loss_ == classifier.progressive_loss_
    old.save(tmp_path / "again")
    assert np.isnan(OnlineClassifier.load(tmp_path / "again").progressive_error_)


def test_a_file_of_something_else(tmp_path: Path) -> None:
    regressor = OnlineRegressor().fit(X, Y)
    regressor.save(tmp_path / "regressor")
    Learner(model=regressor.model_).save(tmp_path / "bare")
    with pytest.raises(ValueError, match="regressor: holds an OnlineRegressor, not an OnlineClassifier"):
        OnlineClassifier.load(tmp_path / "regressor")
    with pytest.raises(ValueError, match=r"bare: holds a model of numbers: OnlineRegressor.load reads it"):
        OnlineClassifier.load(tmp_path / "bare")
    bare = OnlineRegressor.load(tmp_path / "bare")
    np.testing.assert_array_equal(bare.predict(X), regressor.predict(X))
    np.testing.assert_array_equal(bare.partial_fit(X, Y).coef_, regressor.partial_fit(X, Y).coef_)


@pytest.mark.parametrize(
    "classes",
    [np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), np.array([b"ham", None], dtype=object)],
)
def test_classes_that_no_file_can_hold(tmp_path: Path, classes: Any) -> None:
    classifier = OnlineClassifier().fit(X, (Y > 0.0).astype(int))
    classifier.classes_ = classes
    with pytest.raises(TypeError, match="only classes that are numbers or strings can be saved"):
        classifier.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
