"""The ways to learn rows that weigh do what their names say."""

import numpy as np
import pytest
from scipy.special import expit

from paper.studies.weighted import learning
from steelyard import OnlineClassifier
from tests.paper.weighted_rows import separable

DATA = separable()
WEIGHTS = np.random.default_rng(0).integers(1, 6, len(DATA.labels)).astype(float)


def odds(approach: str, rate: float = 0.5, weights: np.ndarray = WEIGHTS) -> np.ndarray:
    return learning.learn(approach, DATA.matrix, DATA.labels, weights, rate=rate, seed=3).odds(DATA.matrix)


def test_copies_are_rows_learned_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_TOGETHER", 400)  # of rows with four values
    learned = learning.learn("copies", DATA.matrix, DATA.labels, WEIGHTS, rate=0.5, seed=0)
    assert learned.updates == WEIGHTS.sum()
    rows = np.arange(len(WEIGHTS)).repeat(WEIGHTS.astype(int))
    plain = learning.classifier("explicit", 0.5 / WEIGHTS.mean()).fit(DATA.matrix[rows], DATA.labels[rows])
    assert learned.odds(DATA.matrix) == pytest.approx(plain.decision_function(DATA.matrix))


def test_the_same_rate_is_the_same_total_push() -> None:
    assert odds("invariant") == pytest.approx(odds("invariant", weights=7.0 * WEIGHTS), rel=1e-4, abs=1e-6)


def test_what_ignores_the_weights() -> None:
    assert odds("ignored") == pytest.approx(odds("ignored", weights=WEIGHTS**2))
    assert odds("ignored") == pytest.approx(odds("explicit", weights=np.ones_like(WEIGHTS)))


@pytest.mark.parametrize("update", learning.UPDATES)
def test_updates_get_the_weights(update: str) -> None:
    classifier = OnlineClassifier(
        "logistic",
        update=update,
        scaling="row_norm",
        learning_rate=0.5 / WEIGHTS.mean(),
        passes=1,
        shuffle=False,
    ).fit(DATA.matrix, DATA.labels, sample_weight=WEIGHTS)
    assert odds(update) == pytest.approx(classifier.decision_function(DATA.matrix))


def test_rejection_keeps_rows_by_their_weight() -> None:
    weights = np.array([1.0, 4.0]).repeat(4000)
    kept = learning._sample_rows(weights, [0, 0])
    light, heavy = np.count_nonzero(kept < 4000), np.count_nonzero(kept >= 4000)
    assert heavy == 4000  # the largest weight is always kept
    assert light / 4000 == pytest.approx(0.25, abs=0.03)


def test_costing_averages_probabilities() -> None:
    learned = learning.learn("costing", DATA.matrix, DATA.labels, WEIGHTS, rate=1.0, seed=0)
    assert len(learned.members) == learning.MEMBERS
    each = [member.predict_proba(DATA.matrix)[:, 1] for member in learned.members]
    assert expit(learned.odds(DATA.matrix)) == pytest.approx(np.mean(each, axis=0))
    assert learned.updates < learning.MEMBERS * len(DATA.labels)
    assert np.ptp(each, axis=0).max() > 0.0  # they learned different rows


def test_seconds_are_counted() -> None:
    assert learning.learn("invariant", DATA.matrix, DATA.labels, WEIGHTS, rate=1.0, seed=0).seconds > 0.0
