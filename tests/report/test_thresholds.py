"""Thresholds lie where the scores are, and what is said of each is true of it as it is shown."""

import numpy as np
import pytest

from steelyard.report import thresholds
from steelyard.report.evidence import Evidence


def evidence(scores: np.ndarray, actual: np.ndarray, weights: np.ndarray | None = None) -> Evidence:
    return Evidence(
        scores, actual.astype(float), np.ones(len(scores)) if weights is None else weights, scores > 0.5, []
    )


def rare() -> Evidence:
    """One row in 15 is positive, and all scores are about 6.6 %."""
    random = np.random.default_rng(3)
    scores = 0.066 + 0.0005 * random.normal(size=3000)
    actual = random.random(3000) < 0.066 + 100.0 * (scores - 0.066)
    return evidence(scores, actual, random.integers(1, 5, 3000).astype(float))


def test_a_rare_class() -> None:
    rows = rare()
    found = thresholds.choose(rows, 0.5)
    table = found["rows"]
    assert [round(row["recall"], 2) for row in table] == pytest.approx(
        [0.95, 0.9, 0.75, 0.5, 0.25, 0.1, 0], abs=0.01
    )
    assert table[-1] == {
        "at": "50 %", "precision": None, "recall": 0.0, "chosen": True,
        "accuracy": np.average(rows.actual == 0.0, weights=rows.weights),
    }  # fmt: skip
    assert len({row["at"] for row in table}) == 7
    data = found["data"]
    assert 150 < len(data["at"]) < 220
    assert data["at"][found["chosen"]] == found["own"] == "50 %"
    positive = rows.actual > 0.0
    for text, weight, alarms in zip(data["at"][:-1], data["found"], data["alarms"], strict=False):
        above = rows.scores >= float(text.removesuffix(" %")) / 100.0
        assert weight == pytest.approx(
            rows.weights[above & positive].sum(), abs=5.0
        )  # a tie, to the last bit
        assert alarms == pytest.approx(rows.weights[above & ~positive].sum(), abs=5.0)


def test_few_distinct_scores_are_not_repeated() -> None:
    scores = np.repeat([0.0, 0.25, 1.0], 20)
    found = thresholds.choose(evidence(scores, scores > 0.1), 0.25)
    assert found["data"]["at"] == ["0 %", "25 %", "50 %", "100 %"]
    assert [(row["at"], row["chosen"]) for row in found["rows"]] == [
        ("25 %", True), ("50 %", False), ("100 %", False),
    ]  # fmt: skip
    assert found["rows"][0]["recall"] == 0.5  # the model's answer needs more than its threshold


def test_one_class() -> None:
    scores = np.array([0.1, 0.2, 0.30000000000000004])
    found = thresholds.choose(evidence(scores, scores > 1.0), 0.5)
    assert found["rows"] == [
        {"at": "50 %", "precision": None, "recall": None, "accuracy": 1.0, "chosen": True}
    ]
    assert thresholds.choose(evidence(scores, scores < 1.0), 0.5)["rows"][0]["recall"] == 1.0


def test_scores_that_no_digits_tell_apart() -> None:
    scores = 0.5 + np.arange(20) * 1e-13
    assert thresholds.choose(evidence(scores, scores > 0.5), 0.3)["data"]["at"] == ["30 %", "50 %"]


def test_the_first_class_is_answered_at_its_threshold_too() -> None:
    """The second one needs more than the border; a row that lies on it is of the first."""
    scores = np.array([0.25, 0.5, 0.75])
    rows = evidence(scores, np.array([False, True, True]))
    exclusive, inclusive = (thresholds.choose(rows, 0.5, inclusive=each) for each in (False, True))
    assert exclusive["data"]["found"][exclusive["chosen"]] == 1.0
    assert inclusive["data"]["found"][inclusive["chosen"]] == 2.0
    other = rows.of_other_class(probable=True)
    assert other.scores.tolist() == [0.75, 0.5, 0.25]
    assert other.actual.tolist() == [1.0, 0.0, 0.0]
    assert rows.of_other_class(probable=False).scores.tolist() == [-0.25, -0.5, -0.75]
