"""Several learning rates that answer together."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor, losses, model_file
from steelyard.engine import auto_rate
from steelyard.engine.auto_rate import candidates
from steelyard.engine.protocol import new_engine, restore
from steelyard.estimators.fitted import fitted_state
from steelyard.examples import examples
from steelyard.model_file import ModelFile
from steelyard.settings import Settings


def test_shares() -> None:
    """Slow twin: exponential weights, with a rate by the mistakes of the best."""
    mistakes = np.array([10.0, 12.0, 50.0])
    eta = np.sqrt(2.0 * np.log(3.0) / 10.0)
    expected = [np.exp(-eta * more) for more in (0.0, 2.0, 40.0)]
    np.testing.assert_allclose(auto_rate.shares(mistakes, np.ones(3)), np.array(expected) / sum(expected))


def test_what_has_diverged_has_no_share() -> None:
    np.testing.assert_array_equal(auto_rate.shares(np.zeros(2), np.array([0.0, 1.0])), [0.0, 1.0])
    np.testing.assert_array_equal(auto_rate.shares(np.zeros(2), np.zeros(2)), [0.5, 0.5])


def test_losses_count_in_units_of_the_best() -> None:
    np.testing.assert_allclose(auto_rate.in_rows(np.array([3.0, 6.0, np.nan]), 30.0), [30.0, 60.0, np.nan])
    np.testing.assert_array_equal(auto_rate.in_rows(np.array([0.0, 1.0]), 5.0), [0.0, np.inf])
    np.testing.assert_array_equal(auto_rate.in_rows(np.full(2, np.nan), 5.0), [0.0, 0.0])


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_the_answer_is_the_mean_by_shares(classes: int, tmp_path: Path) -> None:
    """For numbers, two classes and three; and so it is after saving and loading."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(3.0, 1.0, (200, 4))
    scores = matrix @ rng.normal(size=4)
    labels = scores if classes == 0 else np.sign(scores - np.median(scores))
    if classes == 3:
        labels = np.digitize(scores, np.quantile(scores, [0.3, 0.7])).astype(float)
    loss = losses.by_name("modified_huber" if classes else "squared")
    engine = new_engine(candidates(Settings(loss, follow_labels=classes == 0)), classes, 4)
    rows = examples(matrix, labels)
    engine.learn(rows)
    shares = engine.shares
    assert shares.sum() == pytest.approx(1.0)
    assert (shares > 0.0).sum() > 1
    each = [engine.separate(k).predict(rows) for k in range(len(shares))]  # type: ignore[attr-defined]
    expected = sum(share * answer for share, answer in zip(shares, each, strict=True))
    np.testing.assert_allclose(engine.predict(rows), expected, rtol=1e-4, atol=1e-4)
    model_file.save(tmp_path / "m", ModelFile(engine.state()))
    loaded = restore(model_file.load(tmp_path / "m").engine)
    np.testing.assert_array_equal(loaded.predict(rows), engine.predict(rows))


def test_other_scalings_have_one_that_answers() -> None:
    settings = candidates(replace(Settings(), scaling="normalized"))
    engine = new_engine(settings, 0, 2)
    engine.learn(examples(np.eye(2), [1.0, -1.0]))
    assert sorted(engine.shares.tolist()) == [0.0] * (len(settings) - 1) + [1.0]
    assert fitted_state(OnlineRegressor().fit(np.eye(2), [1.0, 2.0])).engine.shares.tolist() == [1.0]


def test_shares_are_told() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(100, 3))
    classifier = OnlineClassifier(learning_rate="auto").fit(matrix, matrix[:, 0] > 0.0)
    results = classifier.auto_results_
    assert results["share"].sum() == pytest.approx(1.0)
    assert len(results["share"]) == len(results["learning_rate"]) == 5
    assert classifier.coef_.shape == (1, 3)
