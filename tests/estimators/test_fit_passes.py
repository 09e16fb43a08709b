"""How often `fit` learns the rows: few of them several times, weights as copies, early stopping, verbose."""

from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor
from tests.estimators import data


@pytest.mark.parametrize(("rows", "passes"), [(10, 50), (300, 7), (1999, 3), (20_000, 3), (20_001, 1)])
def test_few_rows_are_learned_several_times(rows: int, passes: int) -> None:
    X, y = data.classes(rows)
    assert OnlineClassifier().fit(X, y).n_iter_ == passes
    assert OnlineClassifier(passes=2).fit(X, y).n_iter_ == 2


@pytest.mark.parametrize(("rows", "passes"), [(10, 50), (300, 7), (1999, 2), (2000, 1)])
def test_rates_that_do_not_fall_from_pass_to_pass(rows: int, passes: int) -> None:
    X, y = data.classes(rows)
    assert OnlineClassifier(scaling="normalized").fit(X, y).n_iter_ == passes


def test_a_weight_is_that_many_copies_here_too() -> None:
    X, y = data.numbers(30)
    weights = np.arange(30) % 5
    parameters: dict[str, Any] = {"scaling": "row_norm", "dtype": "float64", "shuffle": False}
    weighted = OnlineRegressor(**parameters).fit(X, y, weights)
    copies = OnlineRegressor(**parameters).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert weighted.n_iter_ == copies.n_iter_ == 34
    np.testing.assert_allclose(weighted.coef_, copies.coef_, rtol=1e-10)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_early_stopping(classes: int) -> None:
    X, y = data.several_classes(200, classes) if classes else data.numbers(200)
    random = np.random.default_rng(0)
    noise = random.normal(size=(200, 60))  # something to learn by heart
    kind = OnlineClassifier if classes else OnlineRegressor
    estimator = kind(early_stopping=True, validation_fraction=0.25).fit(np.hstack([X, noise]), y)
    losses = estimator.validation_losses_
    best = int(np.argmin(losses)) + 1
    assert len(losses) == estimator.n_iter_ == min(best + 3, 50)
    again = kind(passes=best, early_stopping=True, validation_fraction=0.25).fit(np.hstack([X, noise]), y)
    np.testing.assert_array_equal(again.coef_, estimator.coef_)
    assert not hasattr(kind().fit(X, y), "validation_losses_")
    assert not hasattr(estimator.set_params(early_stopping=False).fit(X, y), "validation_losses_")


def test_rows_held_out_are_not_learned() -> None:
    X, y = data.classes(40)
    changed = X.copy()
    changed[9::10] += 1e3
    kept = OnlineClassifier(early_stopping=True, passes=1)
    np.testing.assert_array_equal(kept.fit(X, y).coef_, kept.fit(changed, y).coef_)
    assert kept.weight_summary_.nonzero == 36


def test_too_few_rows_to_hold_out() -> None:
    X, y = data.classes(5)
    with pytest.raises(ValueError, match="early stopping holds out one row in 10, and there are fewer"):
        OnlineClassifier(early_stopping=True).fit(X, y)


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = data.classes(100)
    OnlineClassifier(passes=2, verbose=1).fit(X, y)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("pass 1 of 2: progressive loss 0.")
    assert second == "pass 2 of 2: learned"
    OnlineClassifier(passes=2, verbose=1, early_stopping=True).fit(X, y)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("pass 1 of 2: progressive loss 0.")
    assert ", held-out loss 0." in first
    assert second.startswith("pass 2 of 2: held-out loss 0.")
