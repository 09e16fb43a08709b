"""Losses, errors and calibration of weighted rows, against scikit-learn and by hand."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss, zero_one_loss

from paper.studies.weighted import measures

RANDOM = np.random.default_rng(0)
ODDS = RANDOM.normal(scale=3.0, size=300)
LABELS = np.where(RANDOM.uniform(size=300) < expit(ODDS), 1.0, -1.0)
WEIGHTS = RANDOM.uniform(0.1, 50.0, size=300)


def test_log_loss_and_error() -> None:
    assert measures.log_loss(ODDS, LABELS, WEIGHTS) == pytest.approx(
        log_loss(LABELS, expit(ODDS), sample_weight=WEIGHTS)
    )
    assert measures.error(ODDS, LABELS, WEIGHTS) == pytest.approx(
        zero_one_loss(LABELS, np.sign(ODDS), sample_weight=WEIGHTS)
    )


def test_odds_beyond_all_probabilities() -> None:
    assert measures.log_loss(np.array([-1e6, 1e6]), np.array([1.0, 1.0])) == pytest.approx(5e5)


def test_a_weight_is_copies() -> None:
    copies = RANDOM.integers(1, 4, size=300)
    odds, labels = ODDS.repeat(copies), LABELS.repeat(copies)
    for measure in (measures.log_loss, measures.error):
        assert measure(ODDS, LABELS, copies.astype(float)) == pytest.approx(measure(odds, labels))


def test_cells_of_equal_weight() -> None:
    cells = measures.reliability(ODDS, LABELS, WEIGHTS)
    assert cells.shape == (measures.CELLS, 3)
    assert cells[:, 0].sum() == pytest.approx(1.0)
    assert np.ptp(cells[:, 0]) < 2.0 * WEIGHTS.max() / WEIGHTS.sum()
    assert np.all(np.diff(cells[:, 1]) > 0.0)
    assert cells[:, 0] @ cells[:, 2] == pytest.approx(np.average(LABELS > 0.0, weights=WEIGHTS))


def test_calibration() -> None:
    many = np.random.default_rng(1).normal(size=20_000)
    came = np.where(np.random.default_rng(2).uniform(size=20_000) < expit(many), 1.0, -1.0)
    assert measures.calibration_error(many, came) < 0.02
    assert measures.calibration_error(10.0 * many, came) > 0.1
    sure_and_wrong = measures.calibration_error(np.full(100, 50.0), np.full(100, -1.0))
    assert sure_and_wrong == pytest.approx(1.0)
