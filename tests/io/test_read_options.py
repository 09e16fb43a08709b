"""What a user says about files: refused where it would be ignored."""

from pathlib import Path

import pytest

from steelyard.io.convert import convert
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.read_options import ReadOptions
from steelyard.io.stream import Stream

VW = "1 |a b\n-1 |a c\n"


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,x,w\n" + "a,1.5,1\nb,2,0.5\n" * 10)
    given = ReadOptions.from_keywords(label="y", propensity="w", category="x", bits=10, labels=["a", "b"])
    assert given.label_names == ["a", "b"]
    spec, labels = given.infer([str(path)], "float32")
    assert (spec.bits, spec.propensities, labels) == (10, True, ["a", "b"])
    assert spec.columns is not None
    assert {column.name: column.role for column in spec.columns.columns} == {
        "y": "label",
        "x": "category",
        "w": "weight",
    }


@pytest.mark.parametrize(
    ("text", "name", "given", "message"),
    [
        (VW, "rows.vw", {"label": "y"}, "`label` is for tables, and the files are vw"),
        (VW, "rows.vw", {"labels": "a,b"}, "labels='a,b': the labels of vw are numbers"),
        ("1 1:1\n", "rows.svm", {"interactions": "a*b"}, "`interactions` needs namespaces or columns, .*svm"),
        ("y,x\n1,2\n", "a.csv", {"weight": "x", "propensity": "x"}, "`weight` and `propensity` cannot both"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, name: str, given: dict[str, str], message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        ReadOptions.from_keywords(**given).infer([str(path)], "float32")


def test_converted_files_have_their_features(tmp_path: Path) -> None:
    text, path = tmp_path / "rows.vw", tmp_path / "rows.arrow"
    text.write_text(VW)
    spec = InputSpec("vw", 8)
    convert(list(Stream([text], spec.reader())), path, features=spec.features, reading=spec.as_json())
    assert ReadOptions().infer([str(path)], "float32")[0] == InputSpec("arrow", 8, original=spec)
    with pytest.raises(
        InputError, match="`interactions` needs namespaces or columns, and the files are conv"
    ):
        ReadOptions(interactions=("a*b",)).infer([str(path)], "float32")
    with pytest.raises(InputError, match=r"rows\.arrow: was converted for bits=8; leave `bits` out"):
        ReadOptions(bits=9).infer([str(path)], "float32")


def test_an_option_that_is_not_known() -> None:
    with pytest.raises(TypeError, match=r"there is no option 'lable' for reading files.*label"):
        ReadOptions.from_keywords(lable="y")
