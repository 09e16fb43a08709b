"""The area under the ROC curve against scikit-learn's, for scores that are hard to tell apart."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from steelyard.scoring import ranked_scores
from steelyard.scoring.ranked_scores import RankedScores

RANDOM = np.random.default_rng(0)
COUNT = 600
NOISE = RANDOM.normal(size=COUNT)
POSITIVE = RANDOM.random(COUNT) < 0.3
SCORES = {
    "ordinary": NOISE + POSITIVE,
    "nearly equal": 1.0 + 1e-13 * NOISE,
    "nearly equal, negative": -7.0 - 1e-12 * (NOISE - POSITIVE),
    "huge": 1e300 * NOISE,
    "tiny": 1e-310 * NOISE,
    "of all sizes": np.sign(NOISE) * 10.0 ** (100.0 * NOISE),
    "ties": np.round(NOISE),
    "all equal": np.zeros(COUNT),
    "zeros of both signs": np.where(NOISE > 0.0, 0.0, -0.0) + np.round(0.3 * NOISE),
    "perfect": POSITIVE + 0.1 * NOISE.clip(-1.0, 1.0),
    "probabilities": 1.0 - 1e-9 * np.abs(NOISE),
}
WEIGHTS = {
    "one": np.ones(COUNT),
    "various": RANDOM.exponential(size=COUNT),
    "huge": 1e200 * RANDOM.exponential(size=COUNT),
    "tiny": 1e-200 * RANDOM.exponential(size=COUNT),
}


def ranked(scores: Any, weights: Any, chunks: int = 1) -> RankedScores:
    found = RankedScores()
    for rows in np.array_split(np.arange(len(scores)), chunks):
        found.add(scores[rows], POSITIVE[rows], weights[rows])
    return found


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_the_area(scores: str, weights: str) -> None:
    found = ranked(SCORES[scores], WEIGHTS[weights])
    scale = WEIGHTS[weights].max()
    expected = roc_auc_score(POSITIVE, SCORES[scores], sample_weight=WEIGHTS[weights] / scale)
    assert found.area == pytest.approx(expected, rel=1e-12)
    assert found.error == 0.0


@pytest.mark.parametrize("most", [8, 64, 1 << 21])
@pytest.mark.parametrize("scores", SCORES)
def test_chunks_make_no_difference_and_the_error_is_bounded(
    scores: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranked_scores, "MOST", most)
    monkeypatch.setattr(ranked_scores, "_TOGETHER", 37)
    weights = WEIGHTS["various"]
    expected = roc_auc_score(POSITIVE, SCORES[scores], sample_weight=weights)
    results = []
    for chunks in (1, 7, COUNT):
        found = ranked(SCORES[scores], weights, chunks)
        results.append((found.area, found.error))
        assert found.area == pytest.approx(expected, abs=found.error + 1e-12)
    assert len(set(results)) == 1
    assert results[0][1] <= (0.0 if most > COUNT else 1.0)


def test_one_class_has_no_area() -> None:
    found = RankedScores()
    assert (found.area, found.error) == (None, 0.0)
    found.add(np.arange(3.0), np.ones(3, bool), np.ones(3))
    assert (found.area, found.error) == (None, 0.0)
