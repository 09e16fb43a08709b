"""Labels of rows that are held out decide nothing of what is learned, whatever option is given beside."""

import csv
import random
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard.cli.commands import train
from steelyard.engine import holdout
from tests.cli.running import run, trained, without_record

ROWS = 60
COMMON = ("--bits", 8, "--class-weight", "balanced")
# Of an option that is neither a flag nor a choice: what to give.
VALUES: dict[str, list[tuple[Any, ...]]] = {
    "format_": [("csv",)], "encoding": [("utf-8",)], "bits": [(6,)], "interactions": [("c*x",)],
    "quadratic": [("c*x",)], "labels": [("no,yes",)], "weight_factor": [(0.5,)], "label": [("y",)],
    "weight": [("w",)], "propensity": [("p", "--ignore", "w")], "offset": [("o",)], "tag": [("t",)],
    "text": [("words",)], "category": [("c",)], "number": [("x",)], "ignore": [("c",)], "separator": [(",",)],
    "words": [(2,)], "characters": [("2-3",)], "loss": [("logistic",)], "learning_rate": [(0.1,), ("auto",)],
    "initial_t": [(5.0, "--power-t", 0.5)], "power_t": [(0.5,)], "l1": [(0.01,)], "l2": [(0.01,)],
    "average": [(0,), (2,)],
    "passes": [(2,), (3, "--shuffle")], "class_weight": [("balanced",), ("no=2,yes=0",)], "threads": [(2,)],
    "checkpoint_every": [(20,)], "seed": [(3, "--shuffle")],
}  # fmt: skip
ELSEWHERE = {
    "files", "holdout", "output", "force", "as_json", "resume",  # of the tests themselves
    "cluster", "parts", "rounds", "merge_by",  # without rows held out
    "count", "positives",  # of rows that have no labels
    "keep", "ngram", "skips", "header",  # of other files
    "tau",  # of a loss for numbers
    "classes", "early_stopping", "calibrate",  # see below
}  # fmt: skip


def table(path: Path, flipped: NDArray[np.bool_] | None = None) -> Path:
    """Rows of two classes, one of which is rare; those marked have the other label."""
    draw = random.Random(0)
    lines = ["y,w,p,o,t,c,x,words"]
    for row in range(ROWS):
        yes = draw.random() < 0.2
        x, word = draw.gauss(float(yes), 1.0), draw.choice("abc") + draw.choice("xy")
        fields = [draw.choice([1, 2, 3]), draw.choice([0.5, 0.25]), draw.choice([0, 0.1]), f"r{row}"]
        label = yes != (flipped is not None and bool(flipped[row]))
        lines.append(
            ",".join(
                map(str, ["yes" if label else "no", *fields, draw.choice("uv"), x, f"{word} the {row % 7}"])
            )
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def options_of(command: click.Command) -> list[Any]:
    """Each option with each value that it can have."""
    found = []
    for option in command.params:
        assert option.name is not None
        flag = getattr(option, "is_flag", False)
        if option.name in ELSEWHERE:
            continue
        if option.name in VALUES:
            given = VALUES[option.name]
        elif flag:
            given = [()]
        elif isinstance(option.type, click.Choice):
            given = [(choice,) for choice in option.type.choices]
        else:
            raise AssertionError(f"no value is known for {option.name}: add one above")
        for switch in [*option.opts[-1:], *option.secondary_opts] if flag else option.opts[-1:]:
            found += [pytest.param((switch, *each), id=" ".join(map(str, (switch, *each)))) for each in given]
    return found


def pair(folder: Path, rule: Any, seed: int = 0) -> tuple[Path, Path]:
    """Two files that differ in the labels of the rows that are held out."""
    held = holdout.marker(holdout.parse(rule, seed))(ROWS)
    folders = folder / "a", folder / "b"
    for each in folders:
        each.mkdir()
    return table(folders[0] / "rows.csv"), table(folders[1] / "rows.csv", held)


def check(folder: Path, rule: Any, *given: Any) -> None:
    models = []
    seed = given[given.index("--seed") + 1] if "--seed" in given else 0
    for path in pair(folder, rule, seed):
        trained(path, *COMMON, *given, "--holdout", rule, "-o", path.with_suffix(".model"))
        models.append(without_record(path.with_suffix(".model")))
    assert models[0] == models[1]


@pytest.mark.no_cover
@pytest.mark.parametrize("given", options_of(train.command))
def test_every_option(given: tuple[Any, ...], tmp_path: Path) -> None:
    check(tmp_path, 3, *given)


@pytest.mark.parametrize("given", [(), ("--learning-rate", "auto"), ("--passes", 3, "--shuffle")])
def test_a_share(given: tuple[Any, ...], tmp_path: Path) -> None:
    check(tmp_path, 0.3, *given)


@pytest.mark.soak
@pytest.mark.parametrize("more", options_of(train.command))
@pytest.mark.parametrize("given", options_of(train.command))
def test_every_pair_of_options(given: tuple[Any, ...], more: tuple[Any, ...], tmp_path: Path) -> None:
    try:
        check(tmp_path, 0.3, *given, *more)
    except AssertionError as error:
        if "Error: " not in str(error):  # of options that cannot go together
            raise


@pytest.mark.parametrize("given", [("--calibrate",), ("--early-stopping", "--passes", 3)])
@pytest.mark.parametrize("rule", [3, 0.3])
def test_where_they_decide_something_else(rule: Any, given: tuple[Any, ...], tmp_path: Path) -> None:
    """When to stop, and the probabilities: but nothing of the first pass."""
    one, other = [trained(path, *COMMON, *given, "--holdout", rule) for path in pair(tmp_path, rule)]
    for figure in ("progressive_loss", "progressive_error", "weight", "best_constant_loss"):
        assert one[figure] == other[figure]
    assert one["held_out_loss"] != other["held_out_loss"]


@pytest.mark.parametrize("rule", [3, 0.3])
def test_sweeps(rule: Any, tmp_path: Path) -> None:
    found = []
    for path in pair(tmp_path, rule):
        output = path.with_suffix(".results.csv")
        run("sweep", path, *COMMON, "--learning-rate", "0.1,0.4", "--holdout", rule, "-o", output)
        rows = list(csv.DictReader(output.read_text().splitlines()))
        found.append([(row["progressive_loss"], row["progressive_error"]) for row in rows])
    assert found[0] == found[1]
