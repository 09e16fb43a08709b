"""What predictions mean, whichever way they are shown."""

import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard import losses
from steelyard.io.errors import InputError
from steelyard.scoring.answers import TextAnswers, objects
from steelyard.scoring.score_columns import (
    ScoreColumn,
    filter_columns,
    filter_scores,
    free_names,
    table_columns,
)
from steelyard.scoring.scores import Meaning

LOGISTIC, HINGE, SQUARED = (losses.by_name(name) for name in ("logistic", "hinge", "squared"))
TWO, FOUR = Meaning(LOGISTIC, ["no", "yes"]), Meaning(LOGISTIC, ["a", "b", "c", "d"])
LINES = [[-2.0, -0.5, 0.5], [-1.0, -2.0, 0.25], [0.0, -3.0, -2.0], [0.0, 1.0, -1.0]]  # a prediction a class


def raw(meaning: Meaning) -> NDArray[np.float64]:
    columns = np.array(LINES).T
    return columns if len(meaning.classes or ()) > 2 else columns[:, 0].copy()


@pytest.mark.parametrize("meaning", [TWO, FOUR])
def test_the_best_rank_is_the_predicted_class(meaning: Meaning) -> None:
    scores = meaning.of(raw(meaning))
    assert scores.label_at(0).tolist() == scores.labels.tolist()
    rows = np.arange(len(scores.raw))
    assert scores.probability_at(0).tolist() == scores.probabilities[rows, scores.codes].tolist()
    assert scores.probabilities.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    every = np.stack([scores.label_at(rank) for rank in range(len(meaning.classes or ()))], axis=1)
    assert all(sorted(row) == meaning.classes for row in every.tolist())


def test_a_calibration_never_moves_the_predicted_class_from_its_rank() -> None:
    """The sigmoid of another class may give it a higher probability."""
    bent = Meaning(LOGISTIC, FOUR.classes, [[-0.01, 0.0, 0.0], [-9.0, 0.0, 0.0], *[[-1.0, 0.0, 0.0]] * 2])
    scores = bent.of(np.array([[1.0, 0.9, 0.0, 0.0]]))
    assert scores.labels.tolist() == scores.label_at(0).tolist() == ["a"]
    assert scores.label_at(1).tolist() == ["b"]
    assert scores.probability[0] == scores.probability_of(0)[0] < scores.probability_of(1)[0]


def test_both_sides_of_two_classes() -> None:
    scores = TWO.of(raw(TWO))
    assert scores.raw_of(0).tolist() == (-scores.raw).tolist()
    assert scores.raw_of(1).tolist() == scores.raw.tolist()
    assert scores.probability.tolist() == scores.probability_of(1).tolist()
    assert FOUR.of(raw(FOUR)).raw_of(2).tolist() == LINES[2]


@pytest.mark.parametrize(
    ("meaning", "kind", "top", "names"),
    [
        (TWO, None, None, ["prediction", "probability_yes"]),
        (TWO, "label", None, ["prediction"]),
        (TWO, "raw", None, ["raw"]),
        (TWO, "probability", None, ["probability_yes"]),
        (TWO, None, 5, ["prediction", "probability", "prediction_2", "probability_2"]),
        (FOUR, None, None, ["prediction", "probability"]),
        (FOUR, "raw", None, ["raw_a", "raw_b", "raw_c", "raw_d"]),
        (FOUR, "probability", None, [f"probability_{name}" for name in "abcd"]),
        (Meaning(HINGE, ["no", "yes"]), None, None, ["prediction"]),
        (Meaning(SQUARED), None, None, ["prediction"]),
        (Meaning(SQUARED), "raw", None, ["prediction"]),
    ],
)
def test_columns_beside_a_table(
    meaning: Meaning, kind: str | None, top: int | None, names: list[str]
) -> None:
    columns = table_columns(meaning, kind, top)
    assert [column.name for column in columns] == names
    check_values(meaning, columns)


@pytest.mark.parametrize(
    ("meaning", "scores", "columns"),
    [
        (TWO, ["p", "label", "raw", "p[no]", "p[yes]"], ["p"]),
        (FOUR, ["p", "label", "raw", *(f"p[{name}]" for name in "abcd")], ["label", "p"]),
        (Meaning(HINGE, ["no", "yes"]), ["label", "raw", "raw[no]", "raw[yes]"], ["raw"]),
        (Meaning(SQUARED), ["raw"], ["raw"]),
    ],
)
def test_scores_of_a_filter(meaning: Meaning, scores: list[str], columns: list[str]) -> None:
    found = filter_scores(meaning)
    assert [column.name for column in found] == scores
    assert filter_columns(meaning) == columns
    check_values(meaning, found)


def check_values(meaning: Meaning, columns: list[ScoreColumn]) -> None:
    """A number or a name for each row, as the column says."""
    scores = meaning.of(raw(meaning))
    for column in columns:
        values = column.values(scores)
        assert values.shape == (len(scores.raw),)
        assert (values.dtype == np.float64) if column.numeric else set(values) <= set(meaning.classes or ())


@pytest.mark.parametrize("kind", ["probability", "label"])
def test_what_a_model_does_not_have(kind: str) -> None:
    with pytest.raises(InputError, match="squared loss has no"):
        table_columns(Meaning(SQUARED), kind)
    with pytest.raises(InputError, match="squared loss has no"):
        TextAnswers(Meaning(SQUARED), kind)


def test_names_that_a_table_has_already_get_a_number() -> None:
    taken = ["prediction", "x", "prediction_2", "probability_yes"]
    assert free_names(table_columns(TWO, None), taken) == ["prediction_3", "probability_yes_2"]


def test_lines_and_objects_say_the_same() -> None:
    for meaning in (TWO, FOUR):
        scores = meaning.of(raw(meaning))
        answers = list(objects(scores))
        assert [answer["label"].encode() for answer in answers] == TextAnswers(meaning, "label")(scores)
        best = [max(answer["probabilities"].items(), key=lambda pair: pair[1]) for answer in answers]
        lines = TextAnswers(meaning, "label", 1)(scores)
        assert lines == [f"{name}:{chance:.9g}".encode() for name, chance in best]
    assert list(objects(Meaning(SQUARED).of(np.array([1.5])))) == [{"prediction": 1.5}]
    assert list(objects(Meaning(HINGE, ["no", "yes"]).of(np.array([1.5])))) == [
        {"label": "yes", "prediction": 1.5}
    ]
