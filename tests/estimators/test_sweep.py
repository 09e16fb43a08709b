"""`Sweep`: a meta-estimator over the online estimators."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import steelyard
from steelyard import OnlineClassifier, OnlineRegressor, Sweep
from tests.estimators.data import STREAM, classes, numbers
from tests.estimators.test_scikit_learn import REASON

RATES: dict[str, Any] = {"learning_rate": [0.05, 0.5]}
GRID = RATES | {"update": ["explicit", "invariant"]}
FAST: dict[str, Any] = {"loss": "squared", "scaling": "row_norm"}
X, y = classes()
MAIL = np.where(y == 1, "spam", "ham")


def classifier(**parameters: Any) -> OnlineClassifier:
    return OnlineClassifier(**(FAST | parameters))


def expected_to_fail(estimator: Any) -> dict[str, str]:
    return {
        "check_sample_weight_equivalence_on_dense_data": REASON,
        "check_sample_weight_equivalence_on_sparse_data": REASON,
    }


@pytest.mark.no_cover
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [Sweep(classifier(), RATES), Sweep(OnlineRegressor(**FAST), RATES)],
    expected_failed_checks=expected_to_fail,
)
def test_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("shuffle", [False, True])
def test_each_model_is_that_of_the_estimator(passes: int, shuffle: bool) -> None:
    weights = np.random.default_rng(1).choice([0.0, 1.0, 3.0], len(y))
    base = classifier(passes=passes, shuffle=shuffle, class_weight={"spam": 2.0}, weight_scale="mean_one")
    sweep = Sweep(base, GRID).fit(X, MAIL, sample_weight=weights)
    for params, loss in zip(sweep.cv_results_["params"], sweep.cv_results_["progressive_loss"], strict=True):
        alone = clone(base).set_params(**params).fit(X, MAIL, sample_weight=weights)
        assert loss == pytest.approx(alone.progressive_loss_, rel=1e-5)
    best = clone(base).set_params(**sweep.best_params_).fit(X, MAIL, sample_weight=weights)
    np.testing.assert_array_equal(sweep.decision_function(X), best.decision_function(X))
    assert sweep.best_score_ == -sweep.cv_results_["progressive_loss"].min()


def test_attributes() -> None:
    assert steelyard.Sweep is Sweep
    sweep = Sweep(classifier(), GRID, holdout=4)
    assert is_classifier(sweep)
    assert is_regressor(Sweep(OnlineRegressor(), RATES))
    assert not hasattr(sweep, "cv_results_")
    with pytest.raises(NotFittedError):
        sweep.predict(X)
    sweep.fit(X, MAIL)
    assert sweep.classes_.tolist() == ["ham", "spam"]
    assert sweep.n_features_in_ == X.shape[1]
    assert set(sweep.predict(X)) == {"ham", "spam"}
    assert sweep.score(X, MAIL) > 0.9
    columns = sweep.cv_results_
    assert columns["rank_test_score"][sweep.best_index_] == 1
    assert columns["mean_test_score"][sweep.best_index_] == sweep.best_score_
    assert (
        columns["params"][sweep.best_index_]
        == sweep.best_params_
        == columns["params"][columns["rank"].argmin()]
    )
    assert columns["held_out_accuracy"].shape == (4,)
    assert sweep.notes_ == []
    assert not hasattr(Sweep(OnlineClassifier("squared", calibrate=False), RATES), "predict_proba")
    assert hasattr(Sweep(OnlineClassifier("logistic"), RATES), "predict_proba")
    assert not hasattr(Sweep(OnlineRegressor(), RATES), "decision_function")


def test_passes_are_those_of_fit_where_they_show() -> None:
    rows, labels = numbers(2500)
    model = OnlineRegressor(learning_rate=0.1, shuffle=False)
    held = np.arange(2500) % 5 == 4
    for scaling, passes in (("standardized", 3), ("normalized", 1)):
        model.set_params(scaling=scaling)
        sweep = Sweep(model, {"learning_rate": [0.1]}, holdout=5).fit(rows, labels)
        alone = clone(model).set_params(passes=passes).fit(rows[~held], labels[~held])
        lost = np.mean((alone.predict(rows[held]) - labels[held]) ** 2) / 2.0
        assert sweep.cv_results_["held_out_loss"][0] == pytest.approx(lost, rel=1e-4)
        assert sweep.best_estimator_.n_iter_ == passes


def test_probabilities() -> None:
    sweep = Sweep(OnlineClassifier("tanh_logarithmic", scaling="row_norm"), {"learning_rate": [0.5]}).fit(
        X, y
    )
    np.testing.assert_array_equal(sweep.predict_proba(X), sweep.best_estimator_.predict_proba(X))


def test_parameters_of_the_estimator() -> None:
    grid: dict[str, Any] = {
        "fit_intercept": [True, False],
        "loss": ["squared", "hinge"],
        "dtype": ["float64"],
    }
    sweep = Sweep(classifier(), grid, holdout=5).fit(X, y)
    assert [point.settings.bias for point in sweep.results_.points] == [True, True, False, False]
    assert sweep.best_estimator_.get_params()["dtype"] == "float64"
    with pytest.raises(
        ValueError, match="the grid has 'passes', over which there is no sweep; it goes over loss, up"
    ):
        Sweep(classifier(), {"passes": [1, 2]}).fit(X, y)


def test_in_a_pipeline() -> None:
    pipeline = make_pipeline(StandardScaler(), Sweep(classifier(), RATES)).fit(X, y)
    assert pipeline.score(X, y) > 0.9


def test_clone() -> None:
    sweep = Sweep(classifier(l2=0.1), GRID, holdout=3)
    twin = clone(sweep)
    assert twin.get_params()["estimator__l2"] == 0.1
    assert twin.param_grid == GRID


def test_without_a_refit() -> None:
    sweep = Sweep(classifier(), GRID, refit=False).fit(X, y)
    assert sweep.best_params_ in sweep.cv_results_["params"]
    with pytest.raises(AttributeError, match="no best_estimator_ with refit=False"):
        sweep.predict(X)


def test_losses_of_numbers_cannot_be_compared() -> None:
    X, y = numbers(50)
    grid = {"loss": ["squared", "quantile"]}
    with pytest.raises(ValueError, match="losses of different kinds cannot be compared"):
        Sweep(OnlineRegressor(scaling="row_norm"), grid).fit(X, y)
    sweep = Sweep(OnlineRegressor(scaling="row_norm"), grid, refit=False).fit(X, y)
    assert not hasattr(sweep, "best_params_")
    assert sweep.cv_results_["rank_test_score"].tolist() == [1, 1]


def test_all_diverge() -> None:
    X, y = classes(1000)
    grid: dict[str, Any] = {"learning_rate": [1e6], "update": ["explicit"]}
    with pytest.raises(ValueError, match="every model has diverged"):
        Sweep(classifier(), grid).fit(X, y)
    assert Sweep(classifier(), grid, refit=False).fit(X, y).cv_results_["diverged"].all()


def of_three(rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(rows, 4))
    return X, np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]


def test_more_than_two_classes() -> None:
    X, three = of_three()
    sweep = Sweep(classifier(class_weight="balanced"), {"learning_rate": [0.001, 0.1]}, holdout=4)
    sweep.fit(X, three)
    assert sweep.classes_.tolist() == ["a", "b", "c"]
    assert sweep.cv_results_["held_out_accuracy"][1] > 0.8
    assert sweep.best_params_ == {"learning_rate": 0.1}
    alone = classifier(class_weight="balanced", learning_rate=0.1).fit(X, three)
    np.testing.assert_array_equal(sweep.decision_function(X), alone.decision_function(X))


def test_more_than_two_classes_as_they_come() -> None:
    X, three = of_three()
    sweep = Sweep(classifier(), {"learning_rate": [0.001, 0.1]})
    for part in (slice(0, 200), slice(200, 300)):
        sweep.partial_fit(X[part], three[part], classes=["a", "b", "c"])
    alone = classifier(learning_rate=0.1, **STREAM).fit(X, three)
    np.testing.assert_array_equal(sweep.decision_function(X), alone.decision_function(X))
    assert sweep.best_estimator_.progressive_error_ == alone.progressive_error_
    sweep.best_estimator_.partial_fit(X, three)


def test_auto_is_a_sweep_by_itself() -> None:
    for sweep in (
        Sweep(classifier(learning_rate="auto"), {"l2": [0.0, 0.1]}),
        Sweep(classifier(), {"learning_rate": ["auto", 0.1]}),
    ):
        with pytest.raises(ValueError, match="is a sweep by itself: name the learning rates to compare"):
            sweep.fit(X, y)


def test_learning_rates_that_are_named_take_the_place_of_auto() -> None:
    sweep = Sweep(classifier(learning_rate="auto"), RATES).fit(X, y)
    usual = Sweep(classifier(), RATES).fit(X, y)
    np.testing.assert_array_equal(sweep.cv_results_["score"], usual.cv_results_["score"])


@pytest.mark.parametrize(
    "changed", [{"param_grid": {"learning_rate": [0.5, 0.7]}}, {"estimator": classifier(loss="hinge")}]
)
def test_partial_fit_does_not_go_on_with_other_models(changed: dict[str, Any]) -> None:
    sweep = Sweep(classifier(), RATES).partial_fit(X, MAIL, classes=["ham", "spam"])
    before = sweep.results_.rows()
    grid, estimator = sweep.param_grid, sweep.estimator
    sweep.set_params(**changed)
    with pytest.raises(ValueError, match="not as it was when partial_fit began"):
        sweep.partial_fit(X, MAIL)
    assert sweep.results_.rows() == before
    sweep.set_params(param_grid=grid, estimator=estimator).partial_fit(X, MAIL)


@pytest.mark.parametrize(
    ("sweep", "error", "text"),
    [
        (Sweep(LinearRegression(), RATES), TypeError, "a sweep is over OnlineClassifier or OnlineRegressor"),
        (Sweep(classifier(), RATES, holdout=1), ValueError, "holdout must be 2 or more, for every Nth row"),
        (Sweep(classifier(), RATES, n_jobs=-2), ValueError, "n_jobs must be None, -1 or a number of threads"),
        (Sweep(classifier(), RATES, scoring="recall"), ValueError, "no 'recall' to select by"),
    ],
)
def test_what_is_wrong_is_said(sweep: Sweep, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        sweep.fit(X, y)
    assert not hasattr(sweep, "results_")


def test_weights_of_zero() -> None:
    with pytest.raises(ValueError, match="all sample weights are zero"):
        Sweep(classifier(), RATES).fit(X, y, sample_weight=np.zeros(len(y)))


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Sweep(classifier(), RATES, verbose=1, n_jobs=-1).fit(X, y)
    assert "2 models in one round" in capsys.readouterr().err


def test_a_state(tmp_path: Path) -> None:
    state = tmp_path / "state"
    sweep = Sweep(classifier(shuffle=True), RATES, state=state).fit(X, y)
    assert not state.exists()
    state.write_bytes(b"something else")
    with pytest.raises(ValueError, match="not the state of a sweep"):
        sweep.fit(X, y)
    assert sweep.best_params_["learning_rate"] in RATES["learning_rate"]


# ---- rows as they come


def in_parts(sweep: Sweep, X: NDArray[Any], y: NDArray[Any], **first: Any) -> Sweep:
    for start in range(0, len(y), 60):
        sweep.partial_fit(X[start : start + 60], y[start : start + 60], **(first if start == 0 else {}))
    return sweep


def test_partial_fit() -> None:
    sweep = in_parts(Sweep(classifier(), GRID), X, MAIL, classes=["ham", "spam"])
    whole = Sweep(classifier(**STREAM), GRID).fit(X, MAIL)
    for name in ("progressive_loss", "progressive_error"):
        np.testing.assert_array_equal(sweep.cv_results_[name], whole.cv_results_[name])
    assert sweep.best_params_ == whole.best_params_
    np.testing.assert_allclose(sweep.decision_function(X), whole.decision_function(X), rtol=1e-4, atol=1e-5)
    winner = sweep.best_estimator_.partial_fit(X, MAIL)  # goes on alone
    assert winner.weight_summary_.nonzero == 400


def test_partial_fit_of_numbers() -> None:
    X, y = numbers()
    sweep = in_parts(Sweep(OnlineRegressor(**FAST), GRID), X, y)
    assert sweep.score(X, y) > 0.5
    assert not hasattr(sweep, "classes_")
    assert not hasattr(in_parts(Sweep(OnlineRegressor(**FAST), GRID, refit=False), X, y), "best_estimator_")


@pytest.mark.parametrize(
    ("sweep", "text"),
    [
        (Sweep(classifier(), RATES), "the first call of partial_fit must name all classes"),
        (Sweep(classifier(), RATES, holdout=5), "partial_fit does not hold rows out"),
        (Sweep(classifier(class_weight="balanced"), RATES), "need all the rows, and partial_fit sees some"),
        (
            Sweep(OnlineRegressor(weight_scale="mean_one"), RATES),
            "need all the rows, and partial_fit sees some",
        ),
        (Sweep(OnlineRegressor(), {"loss": ["squared", "quantile"]}), "losses of different kinds cannot be"),
        (
            Sweep(OnlineRegressor(**FAST), {"learning_rate": np.arange(1, 65) / 10.0}, memory=1000),
            "partial_fit needs all models in memory at once, and has 64 models in 2 rounds",
        ),
    ],
)
def test_what_partial_fit_cannot_do(sweep: Sweep, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        sweep.partial_fit(X, y)


def test_partial_fit_looks_at_the_labels_for_every_loss() -> None:
    X, y = numbers()
    sweep = Sweep(OnlineRegressor(**FAST), {"loss": ["squared", "logarithmic"]}, refit=False)
    with pytest.raises(ValueError, match="Logarithmic loss takes 0 or 1"):
        sweep.partial_fit(X, y)
    sweep.partial_fit(X, (y > 0.0).astype(float))
    found = sweep.cv_results_["progressive_loss"].tolist()
    with pytest.raises(ValueError, match="Logarithmic loss takes 0 or 1"):
        sweep.partial_fit(X, y)
    sweep.partial_fit(X[:1], [1.0], sample_weight=[0.0])
    assert sweep.cv_results_["progressive_loss"].tolist() == found


def test_nothing_is_held_out() -> None:
    with pytest.raises(ValueError, match="no row with a label and a weight was held out"):
        Sweep(classifier(), RATES, holdout=len(y) + 1).fit(X, y)
    sweep = Sweep(classifier(), RATES, holdout=len(y) + 1, refit=False).fit(X, y)
    assert not hasattr(sweep, "best_index_")
    assert np.isfinite(sweep.cv_results_["progressive_loss"]).all()


def test_partial_fit_meets_another_class() -> None:
    sweep = Sweep(classifier(), RATES).partial_fit(X, MAIL, classes=["ham", "spam"])
    with pytest.raises(ValueError, match="row 0 has the label 'eggs'"):
        sweep.partial_fit(X[:3], ["eggs", "ham", "spam"])
