"""`predict`: one line a row, whatever is known of the row."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import model_file
from steelyard.cli.commands import predict
from steelyard.examples import examples
from steelyard.learner import Learner
from tests.cli.running import PLAIN, blocks_of, refused, run, stored
from tests.support import slow_text

THREADS = pytest.mark.parametrize("threads", [1, 4])


def expected(model: Path, text: str) -> list[float]:
    """By the weights in the file, row by row."""
    kept = stored(model)
    weights, found = kept.model.coefficients(), []
    for line in text.splitlines():
        row = slow_text.vw(line.encode())
        assert row is not None
        parts = [weights[f.key & (kept.spec.features - 1)] * np.float32(f.value) for f in row.features]
        found.append(math.fsum(map(float, parts)) + kept.model.bias + row.base)
    return found


@THREADS
@pytest.mark.parametrize("size", [1, 333, 1 << 21])
def test_predictions_and_tags(
    file: Path, model: Path, threads: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_of(size, monkeypatch)
    lines = run("predict", model, file, "--threads", threads).stdout.splitlines()
    text = file.read_text()
    assert [float(line.split()[0]) for line in lines] == pytest.approx(expected(model, text), rel=1e-7)
    tags = [word for line in text.splitlines() for word in line.split("|")[0].split() if word[0] == "'"]
    assert [line.split()[1] for line in lines if " " in line] == [tag[1:] for tag in tags]
    assert " row0" in lines[0]
    assert " " not in lines[1]


def test_kinds(file: Path, model: Path) -> None:
    raw = [float(line.split()[0]) for line in run("predict", model, file).stdout.splitlines()]
    chances = run("predict", model, file, "--as", "probability").stdout.splitlines()
    labels = run("predict", model, file, "--as", "label").stdout.splitlines()
    calibration = model_file.load(model).calibration
    assert calibration is not None
    ((slope, shift, bend),) = calibration
    margins = [slope * p + shift for p in raw]
    assert [float(line.split()[0]) for line in chances] == pytest.approx(
        [1.0 / (1.0 + math.exp(margin / (1.0 + bend * abs(margin)))) for margin in margins], rel=1e-6
    )
    assert [line.split()[0] for line in labels] == ["1" if p > 0.0 else "-1" for p in raw]


def test_labels_are_those_of_the_file(file: Path, tmp_path: Path) -> None:
    text = file.read_text().replace("-1 ", "3 ").replace("\n1 ", "\n8 ")
    text = text.replace("1 ", "8 ", 1) if text.startswith("1 ") else text
    path = tmp_path / "other.vw"
    path.write_text(text)
    run("train", path, "--loss", "logarithmic", "--labels", "3,8", "-o", tmp_path / "m")
    labels = run("predict", tmp_path / "m", path, "--as", "label").stdout.splitlines()
    chances = run("predict", tmp_path / "m", path, "--as", "probability").stdout.splitlines()
    assert {line.split()[0] for line in labels} == {"3", "8"}
    assert [line.split()[0] == "8" for line in labels] == [float(line.split()[0]) > 0.5 for line in chances]


def test_labels_are_not_needed_nor_looked_at(model: Path, tmp_path: Path) -> None:
    rows = {"labelled": "1 |a w1 |b 2\n", "bare": "|a w1 |b 2\n", "foreign": "77 |a w1 |b 2\n"}
    said = set()
    for name, text in rows.items():
        path = tmp_path / name
        path.write_text(text)
        said.add(run("predict", model, path).stdout)
    assert len(said) == 1


def test_bases_are_added(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "based"
    path.write_text("1 1 0.5 |a w1\n1 |a w1\n")
    with_base, without = map(float, run("predict", model, path).stdout.split())
    assert with_base - without == pytest.approx(0.5, abs=1e-6)


def test_into_a_file(file: Path, model: Path, tmp_path: Path) -> None:
    output = tmp_path / "predictions.txt"
    assert run("predict", model, file, "-o", output).stdout == ""
    assert output.read_text() == run("predict", model, file).stdout
    before = output.read_bytes()
    bad = tmp_path / "bad.vw"
    bad.write_text(file.read_text() + "x |a\n")
    assert "line 201: the label 'x'" in refused("predict", model, bad, "-o", output, "--force")
    assert output.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_skipped_lines_are_reported_on_standard_error(file: Path, model: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.vw"
    bad.write_text("x |a\n" + file.read_text())
    result = run("predict", model, bad, "--on-error", "skip")
    assert result.stdout == run("predict", model, file).stdout
    assert result.stderr == (
        f"skipped: {bad}, line 1: the label 'x' is not a number\n"
        "no prediction for 1 line that could not be read\n"
    )


def test_standard_input_and_nothing(file: Path, model: Path, tmp_path: Path) -> None:
    assert run("predict", model, "-", stdin=file.read_bytes()).stdout == run("predict", model, file).stdout
    (tmp_path / "empty").touch()
    assert run("predict", model, tmp_path / "empty").stdout == ""


def test_what_a_loss_cannot_say(file: Path, tmp_path: Path) -> None:
    run("train", file, "--loss", "squared", *PLAIN, "-o", tmp_path / "m")
    assert "squared loss has no probabilities" in refused(
        "predict", tmp_path / "m", file, "--as", "probability"
    )
    assert "no classes to name" in refused("predict", tmp_path / "m", file, "--as", "label")
    assert run("predict", tmp_path / "m", file).stdout.count("\n") == 200


def test_a_model_made_in_python(file: Path, tmp_path: Path) -> None:
    learner = Learner(features=2)
    learner.learn(examples(np.ones((1, 2)), labels=[1.0]))
    learner.save(tmp_path / "m")
    assert "was fitted to rows in Python and does not know how files are read" in refused(
        "predict", tmp_path / "m", file
    )


def test_svmlight(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("0 1:1 2:0.5\n1 3:1\n" * 20)
    run("train", path, "-o", tmp_path / "m")
    assert set(run("predict", tmp_path / "m", path, "--as", "label").stdout.split()) == {"0", "1"}


def test_an_output_that_takes_a_part_at_a_time() -> None:
    class Slow(io.BytesIO):
        def write(self, text: Any) -> int:
            return super().write(text[:7])

    out = Slow()
    predict._write(out, b"0123456789" * 5)
    assert out.getvalue() == b"0123456789" * 5
