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


def test_curves(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    roc, precision = evidence.curves()
    x, y = zip(*roc, strict=True)
    expected = metrics.roc_auc_score(evidence.actual, evidence.scores, sample_weight=evidence.weights)
    assert metrics.auc(x, y) == pytest.approx(expected)
    p, r, _ = metrics.precision_recall_curve(evidence.actual, evidence.scores, sample_weight=evidence.weights)
    known = {(round(a, 9), round(b, 9)) for a, b in zip(r, p, strict=True)}
    assert {(round(a, 9), round(b, 9)) for a, b in precision} <= known
    monkeypatch.setattr("steelyard.report.evidence._MOST_POINTS", 10)
    for curve in evidence.curves():
        assert 7 <= len(curve) <= 11


def test_each_row_of_a_rare_class_is_a_step() -> None:
    random = np.random.default_rng(5)
    actual = np.zeros(3299)
    actual[random.permutation(3299)[:24]] = 1.0
    scores = random.random(3299) + 0.5 * actual
    roc, precision = Evidence(scores, actual, np.ones(3299), actual == 1.0, []).curves()
    for number, least in enumerate(sorted(scores[actual == 1.0], reverse=True), 1):
        above = scores >= least
        steps = [right for found, right in precision if found == number / 24]
        assert steps[0] == max(steps) == number / above.sum()
        assert ((above & (actual == 0.0)).sum() / 3275, number / 24) in roc
    assert (roc[0], roc[-1], precision[-1]) == ((0.0, 0.0), (1.0, 1.0), (1.0, 24 / 3299))
    assert metrics.auc(*zip(*roc, strict=True)) == pytest.approx(metrics.roc_auc_score(actual, scores))
    assert max(map(len, (roc, precision))) <= 50


@pytest.mark.parametrize("share", [0.05, 0.5, 0.998])
def test_curves_of_many_rows_are_spaced_along_their_axes(share: float) -> None:
    random = np.random.default_rng(7)
    actual = (random.random(20_000) < share).astype(float)
    scores = random.normal(size=20_000) + 2.0 * actual
    roc, precision = Evidence(scores, actual, np.ones(20_000), actual == 1.0, []).curves()
    assert max(len(roc) - 1, len(precision)) <= 200
    assert metrics.auc(*zip(*roc, strict=True)) == pytest.approx(
        metrics.roc_auc_score(actual, scores), abs=2e-3
    )
    right, found, _ = metrics.precision_recall_curve(actual, scores)
    assert set(precision) <= set(zip(found.tolist(), right.tolist(), strict=True))
    assert np.diff([recall for recall, _ in precision]).max() < 0.01
    assert precision[-1] == (1.0, actual.mean())


def test_weights(evidence: Evidence) -> None:
    found = evidence.weighted()
    assert found is not None
    assert found["by_weight"] == pytest.approx(np.average(evidence.right, weights=evidence.weights))
    assert found["by_row"] == pytest.approx(evidence.right.mean())
    assert (found["smallest"], found["largest"]) == (1.0, 4.0)
    equal = Evidence(evidence.scores, evidence.actual, np.ones(500), evidence.right, [])
    assert equal.weighted() is None
    assert evidence.has_both
