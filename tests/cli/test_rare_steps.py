"""Steps are longer where one of two classes is rare: `train` and `inspect` say by how much."""

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard import class_balance, model_file
from tests.cli.running import run, trained

SAID = (
    "steps                  learning rate × 2.0 (one class is rare: docs/estimators.md, the default scaling)"
)


def table(path: Path, rare: int, names: tuple[str, ...] = ("no", "yes")) -> Path:
    rows = [f"{names[k % len(names)] if k % 20 < rare else names[0]},{k % 7}" for k in range(400)]
    path.write_text("y,x\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    "options", [(), ("--learning-rate", "auto"), ("--cluster", "local:1", "--parts", 1)], ids=str
)
def test_a_rare_class_is_told_of(tmp_path: Path, options: tuple[Any, ...]) -> None:
    rows, model = table(tmp_path / "rows.csv", 2), tmp_path / "m"
    assert SAID in run("train", rows, "--bits", 8, *options, "-o", model).stdout
    assert SAID in run("inspect", model).stdout
    (state,) = {each.class_state.tobytes() for each in model_file.load(model).engine.models}
    assert len(state) == 8 * class_balance.SIZE
    found = trained(rows, "--bits", 8, *options)["class_steps"]
    assert found == pytest.approx(2.0, abs=0.05)
    assert json.loads(run("inspect", model, "--json").stdout)["class_steps"] == found
    assert model_file.load(model).engine.answering.class_steps == found


@pytest.mark.parametrize(
    ("rare", "names", "options"),
    [
        (20, ("no", "yes"), ()),
        (3, ("a", "b", "c"), ()),
        (2, ("no", "yes"), ("--scaling", "normalized")),
        (2, ("no", "yes"), ("--scaling", "normalized", "--learning-rate", "auto")),
        (20, ("1", "2", "3"), ("--numbers",)),
    ],
)
def test_steps_as_long_as_the_rate_says(
    tmp_path: Path, rare: int, names: tuple[str, ...], options: tuple[Any, ...]
) -> None:
    rows, model = table(tmp_path / "rows.csv", rare, names), tmp_path / "m"
    assert "steps  " not in run("train", rows, "--bits", 8, *options, "-o", model).stdout
    assert "steps  " not in run("inspect", model).stdout
    assert json.loads(run("inspect", model, "--json").stdout)["class_steps"] == pytest.approx(1.0, abs=0.01)
