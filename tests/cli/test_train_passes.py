"""Passes and rows held out, against a slow computation."""

from pathlib import Path

import numpy as np
import pytest

from steelyard import losses
from steelyard.cli import train_report
from steelyard.model import Settings
from tests.cli.running import PLAIN, blocks_of, run, stored, trained, without_record
from tests.support.naive import NaiveLearner
from tests.support.vw_text import read

LOGISTIC = losses.by_name("logistic")
BLOCKS = pytest.mark.parametrize("size", [1, 777, 1 << 21])


def slow(file: Path, passes: int, holdout: int) -> tuple[NaiveLearner, float, float]:
    """The learner, the progressive loss of the first pass, and the held-out loss of the last."""
    learner = NaiveLearner(Settings(loss=LOGISTIC, scaling="plain", learning_rate=0.5), 300)
    matrix, labels, sample_weight = read(file)
    first = held = 0.0
    for number in range(passes):
        lost = weight = 0.0
        for k, (y, h) in enumerate(zip(labels, sample_weight, strict=True)):
            hold = (k + 1) % holdout == 0
            (prediction,) = learner.learn(matrix[[k]], [y], [0.0 if hold else h])
            if hold:
                lost += h * LOGISTIC.value(prediction, y)
                weight += h
        held = lost / weight
        if number == 0:
            first = learner.progressive_loss
    return learner, first, held


@BLOCKS
@pytest.mark.parametrize("passes", [1, 3])
def test_passes_and_rows_held_out(
    file: Path, tmp_path: Path, size: int, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_of(size, monkeypatch)
    output = tmp_path / "m"
    found = trained(
        file, "--loss", "logistic", *PLAIN, "--passes", passes, "--holdout", 7, "-o", output, "--threads", 2
    )
    learner, progressive, held = slow(file, passes, 7)
    assert found["progressive_loss"] == pytest.approx(progressive, rel=1e-9)
    assert found["held_out_loss"] == pytest.approx(held, rel=1e-9)
    assert (found["examples"], found["passes"]) == (200, passes)
    model = stored(output).model
    assert model.bias == pytest.approx(learner.bias, rel=1e-9)
    assert np.sort(model.coefficients()[model.coefficients() != 0.0]) == pytest.approx(
        sorted(weight for weight in learner.weights if weight != 0.0), rel=1e-9
    )
    assert model.clock == pytest.approx(learner.clock)


def test_rows_held_out_are_not_learned(file: Path, tmp_path: Path) -> None:
    """Whatever their labels are, the model is the same."""
    lines = file.read_text().splitlines()
    for k in range(4, len(lines), 5):
        label, rest = lines[k].split(" ", 1)
        lines[k] = f"{-int(label)} {rest}"
    other = tmp_path / "other.vw"
    other.write_text("\n".join(lines))
    found = [
        trained(path, "--holdout", 5, "--passes", 2, "-o", tmp_path / path.stem) for path in (file, other)
    ]
    assert without_record(tmp_path / "rows") == without_record(tmp_path / "other")
    assert found[0]["progressive_loss"] == found[1]["progressive_loss"]
    assert found[0]["best_constant"] == found[1]["best_constant"]
    assert found[0]["held_out_loss"] < found[1]["held_out_loss"]


def test_the_summary_speaks_of_rows_held_out(file: Path) -> None:
    said = run("train", file, "--holdout", 10).stdout
    assert "held-out loss" in said
    assert "learned" in said


def test_nothing_held_out_of_few_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("1 |a b\n-1 |a c\n")
    assert trained(path, "--holdout", 3)["held_out_loss"] is None


def test_speed_counts_every_pass(file: Path) -> None:
    found = trained(file, "--passes", 3)
    assert found["rows_per_second"] * found["seconds"] == pytest.approx(600)
    assert found["megabytes_per_second"] * found["seconds"] * 1e6 == pytest.approx(3 * file.stat().st_size)


def test_what_is_not_known_is_not_shown_as_a_number() -> None:
    assert [train_report._shown(value) for value in (None, -1e-9, 0.5)] == ["unknown", "0.000000", "0.500000"]
