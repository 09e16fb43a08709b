"""Files for a model that has learned others; most of this is tested with the commands."""

from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.io import compatibility
from steelyard.io.columns import Column, Columns
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.labels import LabelRule, classes, two_classes

CSV = InputSpec("csv", columns=Columns((Column("y", "label"), Column("x", "number"))), dialect=Dialect())


@pytest.mark.parametrize(
    ("made", "then", "expected"),
    [
        (two_classes("ham", "spam"), two_classes("-1", "1", 0.0, 1.0), two_classes("ham", "spam", 0.0, 1.0)),
        (two_classes("ham", "spam"), two_classes("1.0", "-1"), two_classes("spam", "ham")),
        (two_classes("*", "spam"), two_classes("1", "-1"), two_classes("*", "spam", 1.0, -1.0)),
        (classes("abc"), classes("012"), classes("abc")),
        (classes("abc"), two_classes("*", "2"), two_classes("*", "c")),
        (classes("abc"), None, classes("abc")),
        (None, two_classes("0", "1"), two_classes("0", "1")),
    ],
)
def test_names_of_classes_behind_converted_rows(
    tmp_path: Path, made: LabelRule | None, then: LabelRule | None, expected: LabelRule
) -> None:
    """A model of converted rows reads the original too: its labels are the numbers made of the names."""
    path = tmp_path / "table.csv"
    path.write_text("y,x\na,1\n")
    spec = InputSpec("arrow", label_rule=then, original=replace(CSV, label_rule=made))
    assert compatibility.spec_for(spec, [str(path)], "m").label_rule == expected
