"""Of two classes, curves and probabilities are those of the rarer, unless the order means something."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from steelyard import model_file
from tests.cli.running import run


def table(path: Path, names: tuple[str, str], each: int = 10) -> Path:
    """The first class is one row in `each`; a few have the word of the other class."""
    lines = []
    for k in range(600):
        own = 0 if k % each == 0 else 1
        seen = 1 - own if k % 50 in (0, 7) else own
        lines.append(f"{names[own]},{('corn', 'bank')[seen]} word{k % 3}")
    path.write_text("label,text\n" + "\n".join(lines) + "\n")
    return path


def trained(tmp_path: Path, rows: Path, *options: Any) -> Path:
    run("train", rows, "--bits", 8, *options, "-o", tmp_path / "m")
    return tmp_path / "m"


def page(tmp_path: Path, model: Path, rows: Path) -> str:
    output = tmp_path / "page.html"
    run("report", model, rows, "-o", output)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", output.read_text(encoding="utf-8")))


def test_the_rarer_class_comes_first_by_alphabet(tmp_path: Path) -> None:
    """The page, the command and a model whose classes are named the other way round agree."""
    rows = table(tmp_path / "rows.csv", ("grain", "other"))
    model = trained(tmp_path, rows)
    found = json.loads(run("evaluate", model, rows, "--json").stdout)
    assert found["positive_class"] == "grain"
    assert (
        "calibration: predicted probability of 'grain', and its observed share"
        in run("evaluate", model, rows).stdout
    )
    shown = page(tmp_path, model, rows)
    assert (
        "The curves are about grain, the rarer class; those of a model trained with --labels grain,other"
        in shown
    )
    assert (
        "Precision and recall: the share of rows called grain that are, against the share of all grain"
        in shown
    )
    assert "The model answers grain if its probability is" in shown
    assert "70 % are grain" in shown
    assert "speaks for other; to the left, for grain" in shown
    (grain,) = [each for each in found["classes"] if each["class"] == "grain"]
    own = re.search(r"grain from precision recall accuracy (.*?) Ranking", shown)
    assert own is not None
    assert f"{grain['precision']:.1%} {grain['recall']:.1%} {found['accuracy']:.1%}" in own[1]
    weight = sum(row["weight"] for row in found["calibration"])
    assert weight == found["weight"]
    share = sum(row["observed"] * row["weight"] for row in found["calibration"]) / weight
    assert share == pytest.approx(grain["weight"] / weight)

    named = trained(tmp_path, rows, "--labels", "other,grain")
    again = json.loads(run("evaluate", named, rows, "--json").stdout)
    assert again["positive_class"] == "grain"
    assert again["auc"] == pytest.approx(found["auc"])
    assert "The curves are about grain. " in page(tmp_path, named, rows)


@pytest.mark.parametrize(
    ("names", "each", "options", "positive"),
    [
        (("grain", "other"), 10, ("--labels", "grain,other"), "other"),
        (("no", "yes"), 10, (), "yes"),
        (("0", "1"), 10, (), "1"),
        (("grain", "other"), 2, (), "other"),
        (("other", "grain"), 10, (), "other"),
        (("grain", "other"), 10, ("--labels", "*,other"), "other"),
    ],
)
def test_where_it_is_the_second(
    tmp_path: Path, names: tuple[str, str], each: int, options: tuple[Any, ...], positive: str
) -> None:
    """Named, of a usual pair, numbers, hardly rarer; or it is the rarer one anyway."""
    rows = table(tmp_path / "rows.csv", names, each)
    model = trained(tmp_path, rows, *options)
    assert json.loads(run("evaluate", model, rows, "--json").stdout)["positive_class"] == positive
    assert f"The curves are about {positive}. " in page(tmp_path, model, rows)


def test_it_is_known_later_on(tmp_path: Path) -> None:
    """A model that learns on, or learned converted rows, keeps what the user named."""
    rows = table(tmp_path / "rows.csv", ("grain", "other"))
    for options, positive in (((), "grain"), (("--labels", "grain,other"), "other")):
        run("convert", rows, *options, "--bits", 8, "-o", tmp_path / "rows.arrow", "--force")
        run("train", tmp_path / "rows.arrow", "-o", tmp_path / "converted")
        for given in (tmp_path / "rows.arrow", rows):
            found = json.loads(run("evaluate", tmp_path / "converted", given, "--json").stdout)
            assert found["positive_class"] == positive
        model = trained(tmp_path, rows, *options)
        stored = model_file.load(model).spec
        assert stored is not None
        assert stored["label_rule"].get("named", False) == bool(options)
        run("train", rows, "--resume", model, "-o", tmp_path / "further")
        found = json.loads(run("evaluate", tmp_path / "further", rows, "--json").stdout)
        assert found["positive_class"] == positive


def test_without_probabilities(tmp_path: Path) -> None:
    rows = table(tmp_path / "rows.csv", ("grain", "other"))
    model = trained(tmp_path, rows, "--loss", "hinge", "--no-calibrate")
    found = json.loads(run("evaluate", model, rows, "--json").stdout)
    assert "calibration" not in found
    shown = page(tmp_path, model, rows)
    assert "The curves are about grain, the rarer class" in shown
    assert "Which threshold?" not in shown


def test_several_classes_and_numbers_have_none(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("label,x\n" + "a,1\nb,2\nc,3\n" * 30)
    model = trained(tmp_path, rows)
    assert "positive_class" not in json.loads(run("evaluate", model, rows, "--json").stdout)
    assert "calibration: predicted probability of the predicted class" in run("evaluate", model, rows).stdout
    assert "70 % belong to the predicted class" in page(tmp_path, model, rows)
    model = trained(tmp_path, rows, "--label", "x", "--numbers")
    assert "Predicted and actual" in page(tmp_path, model, rows)
