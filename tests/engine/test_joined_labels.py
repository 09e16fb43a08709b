"""Labels that are several ones joined."""

from pathlib import Path

import pytest

from steelyard import JoinedLabelsWarning, OnlineClassifier
from steelyard.engine import joined_labels
from tests.cli.running import run

TOPICS = ["acq", "corn", "corn,grain", "grain", "grain,wheat,corn", "none", "wheat"]


def test_classes_that_are_combinations() -> None:
    (found,) = joined_labels.advice(TOPICS, None)
    assert found.startswith("2 of the 7 classes are several labels joined by ',', such as 'corn,grain', and ")
    assert "write a column that says which rows have it: label='COLUMN'" in found
    (found,) = joined_labels.advice(["a", "b", "a; b"], None)
    assert found.startswith("1 of the 3 classes are several labels joined by ';'")


@pytest.mark.parametrize(
    "labels",
    [
        [],
        ["Bonn, Germany", "Paris, France", "Rome, Italy"],
        ["Bonn", "Bonn, Germany", "Rome"],
        ["a,", "a", "b"],
        ["1", "2", "3"],
    ],
)
def test_names_with_commas_are_names(labels: list[str]) -> None:
    assert joined_labels.advice(labels, None) == []


def test_one_label_that_is_among_several() -> None:
    (found,) = joined_labels.advice(TOPICS, ["*", "grain"])
    assert found.startswith("the label 'corn,grain' has 'grain' among several, and is taken for '*', not for")
    assert joined_labels.advice(TOPICS, ["*", "acq"]) == []
    assert joined_labels.advice(TOPICS, ["grain", "wheat"]) == []
    assert joined_labels.advice(TOPICS, ["*", "grain", "corn,grain", "grain,wheat,corn"]) == []


def test_it_is_said_before_anything_is_learned(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    path.write_text("topics\ttext\n" + "".join(f"{topic}\tsome words of {topic}\n" for topic in TOPICS) * 9)
    shown = run("train", path, "--bits", 8).stderr
    assert shown.startswith("note: 2 of the 7 classes are several labels")
    assert "has 'grain' among several" in run("train", path, "--bits", 8, "--labels", "*,grain").stderr
    with pytest.warns(JoinedLabelsWarning, match="which rows have it: label='COLUMN'") as told:
        OnlineClassifier().fit_files(path, bits=8)
    assert told[0].filename == __file__
