"""`--classes` and `--numbers`: what labels are that are numbers; and classes that come late."""

import json
from pathlib import Path

import pytest

from steelyard.io import inference
from tests.cli.running import PLAIN, refused, run, trained

THREE = "".join(f"{k % 3 + 1} |a w{k % 3} x\n" for k in range(30))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text(THREE)
    return path


def test_labels_of_one_against_all(file: Path, tmp_path: Path) -> None:
    said = run("train", file, *PLAIN).stdout
    assert "labels: 1, 2, 3 are numbers to predict (detected; if they are classes: --classes)\n" in said
    assert "loss: squared" in said
    assert "are classes: --classes" not in run("train", file, *PLAIN, "--numbers").stdout
    model = tmp_path / "m.model"
    said = run("train", file, *PLAIN, "--classes", "--passes", "5", "-o", model).stdout
    assert "classes: 3: 1, 2, 3 (detected" in said
    assert run("predict", model, file, "--as", "label").stdout.split() == [
        line[0] for line in THREE.splitlines()
    ]


def test_two_labels_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("0 |a x\n1 |a y\n")
    assert "loss: squared" in run("train", path, *PLAIN, "--numbers").stdout
    assert "loss: modified_huber" in run("train", path, *PLAIN).stdout


def test_fractions_are_no_classes(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("0.5 |a x\n1 |a y\n2 |a y\n")
    assert "use --numbers" in refused("train", path, "--classes")


def test_sweeps(file: Path) -> None:
    rates = ("--learning-rate", "0.1,1", "--bits", "12", "--json")
    assert json.loads(run("sweep", file, *rates, "--classes").stdout)["command"].endswith("--classes")


@pytest.mark.parametrize("first", [("1", "2"), ("ham", "spam"), ("longer label", "another one")])
def test_a_third_class_behind_the_first_rows(tmp_path: Path, first: tuple[str, str]) -> None:
    path = tmp_path / "rows.csv"
    rows = [f"{first[k % 2]},w{k % 5}" for k in range(3000)] + ["3,w9"]
    path.write_text("label,colour\n" + "\n".join(rows) + "\n")
    assert trained(path, *PLAIN, "--classes")["examples"] == 3001


def test_usual_pairs_are_not_searched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(inference, "distinct_labels", None)
    path = tmp_path / "rows.vw"
    path.write_text("1 |a x\n-1 |a y\n")
    assert trained(path, *PLAIN)["examples"] == 2
