"""Curves and weights, against scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics

from steelyard.report.evidence import Evidence


@pytest.fixture
def evidence() -> Evidence:
    random = np.random.default_rng(3)
    scores = np.round(random.random(500), 2)
    actual = (random.random(500) < scores).astype(float)
    return Evidence(scores, actual, random.integers(1, 5, 500).astype(float), (scores > 0.5) == actual, [])


def test_curves(evidence: Evidence) -> None:
    roc, precision = evidence.curves()
    x, y = zip(*roc, strict=True)
    expected = metrics.roc_auc_score(evidence.actual, evidence.scores, sample_weight=evidence.weights)
    assert metrics.auc(x, y) == pytest.approx(expected)
    p, r, _ = metrics.precision_recall_curve(evidence.actual, evidence.scores, sample_weight=evidence.weights)
    known = {(round(a, 9), round(b, 9)) for a, b in zip(r, p, strict=True)}
    assert {(round(a, 9), round(b, 9)) for a, b in precision} <= known
    assert len(evidence.curves(most=10)[0]) == 11


def test_weights(evidence: Evidence) -> None:
    found = evidence.weighted()
    assert found is not None
    assert found["by_weight"] == pytest.approx(np.average(evidence.right, weights=evidence.weights))
    assert found["by_row"] == pytest.approx(evidence.right.mean())
    assert (found["smallest"], found["largest"]) == (1.0, 4.0)
    equal = Evidence(evidence.scores, evidence.actual, np.ones(500), evidence.right, [])
    assert equal.weighted() is None
    assert evidence.has_both
