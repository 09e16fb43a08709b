"""`learning_rate="auto"`: several rates learn side by side, and answer together, or the best so far does."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import Learner, OnlineClassifier, OnlineRegressor
from steelyard.engine import auto_rate
from steelyard.estimators.fitted import fitted_state
from tests.estimators import data
from tests.estimators.data import STREAM, known

NUMBERS, TWO, THREE = data.numbers(200), data.classes(200), data.several_classes(200)
PROBLEMS = {
    "numbers": (OnlineRegressor, NUMBERS),
    "two": (OnlineClassifier, TWO),
    "three": (OnlineClassifier, THREE),
}
EACH = pytest.mark.parametrize(("cls", "problem"), PROBLEMS.values(), ids=PROBLEMS)


@EACH
def test_the_best_by_progressive_loss_answers(cls: Any, problem: Any) -> None:
    X, y = problem
    auto = cls(learning_rate="auto", scaling="normalized", dtype="float64").fit(X, y)
    results = auto.auto_results_
    assert len(results["learning_rate"]) == len(auto_rate.CANDIDATES)
    best = int(np.argmin(results["progressive_loss"]))
    assert auto.progressive_loss_ == results["progressive_loss"][best]
    chosen = {name: float(results[name][best]) for name in ("learning_rate", "initial_t", "power_t")}
    assert (auto.learning_rate_, auto.power_t_) == (chosen["learning_rate"], chosen["power_t"])
    alone = cls(scaling="normalized", dtype="float64", **chosen).fit(X, y)
    np.testing.assert_allclose(auto.coef_, alone.coef_, rtol=1e-8)
    np.testing.assert_allclose(auto.predict(X), alone.predict(X), rtol=1e-8)
    assert auto.progressive_loss_ == pytest.approx(alone.progressive_loss_, rel=1e-8)
    if cls is OnlineClassifier:
        assert auto.progressive_error_ == results["progressive_error"][best]
        assert auto.progressive_error_ == pytest.approx(alone.progressive_error_)
    else:
        assert "progressive_error" not in results


@EACH
def test_chunks_are_the_whole(cls: Any, problem: Any) -> None:
    X, y = problem
    names = {"classes": np.unique(y)} if cls is OnlineClassifier else {}
    chunked = cls(learning_rate="auto")
    for part in (slice(0, 50), slice(50, 51), slice(51, 200)):
        chunked.partial_fit(X[part], y[part], **names)
        assert (
            chunked.learning_rate_
            == chunked.auto_results_["learning_rate"][fitted_state(chunked).engine.best]
        )
    whole = cls(learning_rate="auto", **STREAM).fit(X, y)
    same = {name: getattr(chunked, name) for name in ("weight_summary_", *STREAM)}
    assert known(chunked) == known(whole) | same


@EACH
def test_a_file_keeps_all_of_them(cls: Any, problem: Any, tmp_path: Path) -> None:
    X, y = problem
    auto = cls(learning_rate="auto").fit(X, y)
    auto.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    assert known(loaded) == known(auto) == known(pickle.loads(pickle.dumps(auto)))
    np.testing.assert_array_equal(loaded.predict(X), auto.predict(X))
    assert known(loaded.partial_fit(X, y)) == known(auto.partial_fit(X, y))


def test_whoever_reads_model_files_reads_the_best(tmp_path: Path) -> None:
    auto = OnlineRegressor(learning_rate="auto", scaling="normalized").fit(*NUMBERS)
    auto.save(tmp_path / "model")
    np.testing.assert_array_equal(Learner.load(tmp_path / "model").model.coefficients(), auto.coef_)


def test_a_file_goes_on_with_the_rates_it_was_begun_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    OnlineRegressor(learning_rate="auto").fit(*NUMBERS).save(tmp_path / "model")
    here = OnlineRegressor.load(tmp_path / "model").partial_fit(*NUMBERS)
    monkeypatch.setattr(auto_rate, "MIXED", ((1.0, 0.0, 1.0), (3.0, 0.0, 1.0)))
    later = OnlineRegressor.load(tmp_path / "model").partial_fit(*NUMBERS)
    assert known(later) == known(here)


def test_the_untuned_rate_leads_until_there_is_something_to_go_by() -> None:
    X, y = TWO
    auto = OnlineClassifier(learning_rate="auto").partial_fit(
        X, y, classes=[0, 1], sample_weight=np.zeros(200)
    )
    assert auto.learning_rate_ == 0.4
    assert np.isnan(auto.progressive_loss_)
    assert np.isnan(auto.progressive_error_)
    auto.partial_fit(X, y)
    assert (
        known(auto)["model.0.weights"]
        == known(OnlineClassifier(learning_rate="auto", **STREAM).fit(X, y))["model.0.weights"]
    )


@EACH
def test_the_first_pass_decides(cls: Any, problem: Any) -> None:
    X, y = problem
    once, thrice = (cls(learning_rate="auto", passes=passes).fit(X, y) for passes in (1, 3))
    for name, column in once.auto_results_.items():
        np.testing.assert_array_equal(thrice.auto_results_[name], column)
    warm = cls(learning_rate="auto", warm_start=True).fit(X, y).fit(X, y)
    assert warm.progressive_loss_ < once.progressive_loss_


def test_one_rate_and_several_do_not_mix() -> None:
    X, y = NUMBERS
    with pytest.raises(
        ValueError, match="begun with one learning rate and cannot continue with learning_rate='auto'"
    ):
        OnlineRegressor().fit(X, y).set_params(learning_rate="auto").partial_fit(X, y)
    auto = OnlineRegressor(learning_rate="auto").fit(X, y).set_params(learning_rate=0.5)
    with pytest.raises(ValueError, match="begun with learning_rate='auto' and cannot continue with one"):
        auto.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"learning_rate='auto' tries several decays .* leave power_t at 0"):
        OnlineRegressor(learning_rate="auto", power_t=0.5).fit(X, y)


def test_without_auto_there_are_no_results() -> None:
    regressor = OnlineRegressor().fit(*NUMBERS)
    assert not hasattr(regressor, "auto_results_")
    assert regressor.learning_rate_ == pytest.approx(0.9)
    assert regressor.power_t_ == 0.0
    assert OnlineRegressor(learning_rate=0.125, power_t=0.5).fit(*NUMBERS).power_t_ == 0.5


def test_who_diverges_does_not_lead() -> None:
    X, y = NUMBERS
    explicit: dict[str, Any] = {"learning_rate": "auto", "update": "explicit", "scaling": "plain"}
    auto = OnlineRegressor(**explicit).fit(3.0 * X, y)
    lost = np.isnan(auto.auto_results_["progressive_loss"])
    assert lost.any()
    assert not lost.all()
    assert np.isfinite(auto.progressive_loss_)
    before = known(auto)
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        auto.partial_fit(1e4 * X, y)
    assert known(auto) == before
