"""Every figure printed of a model of several classes is that of all classes, not of the first."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, model_file
from steelyard.learn import linear
from tests.cli.running import run
from tests.cli.test_several_classes import topics, write

OPTIONS = ("--loss", "logistic", "--bits", 8, "--weight-scale", "as_given")
CLUSTER = ("--cluster", "local:1", "--rounds", 2, "--parts")


def plain_figures(path: Path) -> dict[str, float]:
    """From the sums in the file: the mean over the classes of the setting with the least loss, by weight."""
    engine = model_file.load(path).engine
    sums = np.array([model.state[[linear.LOSS, linear.WEIGHT]] for model in engine.models])
    each = sums.reshape(-1, 3, 2)
    losses = (each[:, :, 0] / each[:, :, 1]).mean(axis=1)
    best, weight = int(losses.argmin()), float(sums[0, 1])
    assert engine.error is not None
    found = {"progressive_loss": float(losses[best]), "progressive_error": float(engine.error[best]) / weight}
    if len(losses) == 1:
        nonzero = sum(int(np.count_nonzero(model.coefficients())) for model in engine.models)
        found |= {"nonzero_weights": nonzero, "nonzero": nonzero}
    return found


def named(said: Any) -> Iterator[tuple[str, Any]]:
    """All figures in an answer, however deep."""
    for name, value in said.items() if isinstance(said, dict) else enumerate(said):
        if isinstance(value, dict | list):
            yield from named(value)
        yield str(name), value


Command = Callable[[list[Path], Path], tuple[Any, ...]]


def merge(parts: list[Path], output: Path) -> tuple[Any, ...]:
    models = [part.with_suffix(".model") for part in parts]
    for part, model in zip(parts, models, strict=True):
        run("train", part, *OPTIONS, "-o", model, "--force")
    return "merge", *models, "-o", output, "--force"


def inspect(parts: list[Path], output: Path) -> tuple[Any, ...]:
    run("train", *parts, *OPTIONS, "-o", output)
    return "inspect", output


COMMANDS: dict[str, Command] = {
    "train": lambda parts, output: ("train", *parts, *OPTIONS, "-o", output),
    "l1": lambda parts, output: ("train", *parts, *OPTIONS, "--l1", 0.001, "-o", output),
    "auto": lambda parts, output: ("train", *parts, *OPTIONS, "--learning-rate", "auto", "-o", output),
    "cluster of one": lambda parts, output: ("train", *parts, *OPTIONS, *CLUSTER, 1, "-o", output),
    "cluster": lambda parts, output: ("train", *parts, *OPTIONS, *CLUSTER, 2, "-o", output),
    "merge": merge,
    "inspect": inspect,
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", COMMANDS)
def test_figures(name: str, tmp_path: Path) -> None:
    parts = [write(tmp_path / f"{k}.tsv", topics(100, seed=k)) for k in range(4)]
    output = tmp_path / "m"
    command = COMMANDS[name](parts, output)
    said = json.loads(run(*command, "--json").stdout)
    expected = plain_figures(output)
    found = [(figure, value) for figure, value in named(said) if figure in expected]
    assert "progressive_loss" in dict(found)
    for figure, value in found:
        assert value == pytest.approx(expected[figure], rel=1e-9), figure
    shown = re.findall(r"average loss[: ]+([0-9.]+)", run(*command).stdout)
    if name != "merge":
        assert shown[-1] == f"{expected['progressive_loss']:.6f}"
    loaded = OnlineClassifier.load(output)
    assert loaded.progressive_loss_ == pytest.approx(expected["progressive_loss"], rel=1e-9)
    assert loaded.progressive_error_ == pytest.approx(expected["progressive_error"], rel=1e-9)
    content = model_file.load(output)
    assert content.training is not None
    assert content.training["curve"][-1][1] == pytest.approx(expected["progressive_loss"], rel=1e-4)


def test_a_sweep_of_classes(tmp_path: Path) -> None:
    """Its table has the figures that `train` has of the same settings."""
    table = write(tmp_path / "t.tsv", topics(200))
    options = ("--loss", "logistic", "--bits", 8)
    rates = ("0.1", "0.4")
    said = run("sweep", table, *options, "--learning-rate", *",".join(rates).split(), "--json").stdout
    best = json.loads(said)["best"]
    run("train", table, *options, "--learning-rate", best["learning_rate"], "-o", tmp_path / "m")
    expected = plain_figures(tmp_path / "m")
    for figure in ("progressive_loss", "progressive_error"):
        assert best[figure] == pytest.approx(expected[figure], rel=1e-9)
