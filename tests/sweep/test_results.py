"""Results: their shape, the best of them, their files."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.losses import Loss
from steelyard.model import Settings
from steelyard.sweep import grid, results
from steelyard.sweep.results import Results


def made(axes: grid.Grid, *, classes: int = 2, held_out: bool = True, select: str | None = None) -> Results:
    points = grid.expand(Settings(), axes).points
    return Results.empty(points, classes=classes, held_out=held_out, select=select)


ONE_LOSS: grid.Grid = {"learning_rate": [0.1, 0.2, 0.3, 0.4]}
TWO_LOSSES: grid.Grid = {"loss": ["squared", "hinge"], "learning_rate": [0.1, 0.2]}


@pytest.mark.parametrize(
    ("axes", "classes", "held_out", "criterion"),
    [
        (ONE_LOSS, 2, True, "held_out_loss"),
        (ONE_LOSS, 2, False, "progressive_loss"),
        (ONE_LOSS, 0, True, "held_out_loss"),
        (ONE_LOSS, 0, False, "progressive_loss"),
        (TWO_LOSSES, 2, True, "held_out_accuracy"),
        (TWO_LOSSES, 2, False, "progressive_error"),
        (TWO_LOSSES, 0, False, "progressive_loss"),
    ],
)
def test_what_they_are_compared_by(axes: grid.Grid, classes: int, held_out: bool, criterion: str) -> None:
    found = made(axes, classes=classes, held_out=held_out)
    assert found.criterion == criterion
    assert found.comparable == (criterion.endswith(("accuracy", "error")) or axes is ONE_LOSS)


def test_it_can_be_chosen() -> None:
    assert made(ONE_LOSS, select="progressive_error").criterion == "progressive_error"
    with pytest.raises(ValueError, match="no 'held_out_loss' to select by; there is progressive_loss, prog"):
        made(ONE_LOSS, held_out=False, select="held_out_loss")


def test_best_and_ranks() -> None:
    found = made(ONE_LOSS)
    found.fill([2, 0], {"held_out_loss": np.array([0.5, 0.7]), "diverged": np.array([False, False])})
    found.fill([1, 3], {"held_out_loss": np.array([0.5, np.nan]), "diverged": np.array([False, True])})
    assert found.best_index == 1
    assert found.rank.tolist() == [3, 1, 1, 4]
    assert found.score.tolist() == [-0.7, -0.5, -0.5, -np.inf]


def test_accuracy_is_better_the_higher() -> None:
    found = made(TWO_LOSSES)
    found.fill([0, 1, 2, 3], {"held_out_accuracy": np.array([0.5, 0.9, 0.7, 0.0])})
    assert found.best_index == 1
    assert found.rank.tolist() == [3, 1, 2, 4]


def test_losses_that_cannot_be_compared() -> None:
    found = made(TWO_LOSSES, classes=0, held_out=False)
    found.fill([0, 1, 2, 3], {"progressive_loss": np.array([0.5, 0.4, 0.1, 0.2])})
    assert found.rank.tolist() == [2, 1, 1, 2]
    with pytest.raises(ValueError, match="different losses cannot be compared by their progressive_loss"):
        _ = found.best_index


def test_all_have_diverged() -> None:
    found = made(ONE_LOSS)
    found.fill([0, 1, 2, 3], {"diverged": np.ones(4, bool)})
    with pytest.raises(ValueError, match="every model has diverged"):
        _ = found.best_index


def test_columns_are_those_of_a_search() -> None:
    found = made([{"l2": [0.1]}, {"learning_rate": [0.2, 0.3]}])
    columns = found.columns
    assert columns["params"] == [{"l2": 0.1}, {"learning_rate": 0.2}, {"learning_rate": 0.3}]
    assert columns["param_l2"].mask.tolist() == [False, True, True]
    assert columns["param_learning_rate"].tolist() == [None, 0.2, 0.3]
    assert [name for name in columns if not name.startswith("param")] == [
        "progressive_loss", "progressive_error", "held_out_loss", "held_out_accuracy", "diverged", "score",
        "rank",
    ]  # fmt: skip


def test_files(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = made(
        {"loss": [losses.by_name("quantile", tau=0.9), "hinge"], "update": ["explicit"]}, held_out=False
    )
    found.fill([0, 1], {"progressive_loss": np.array([0.25, np.nan]), "diverged": np.array([False, True])})
    expected: list[dict[str, Any]] = [
        {"loss": "quantile(tau=0.9)", "update": "explicit", "progressive_loss": 0.25, "diverged": False},
        {"loss": "hinge", "update": "explicit", "progressive_loss": None, "diverged": True},
    ]
    for suffix in ("csv", "json", "parquet", "pq"):
        found.save(tmp_path / f"all.{suffix}")
    assert json.loads((tmp_path / "all.json").read_text()) == found.rows()
    for suffix in ("parquet", "pq"):
        assert parquet.read_table(tmp_path / f"all.{suffix}").to_pylist() == found.rows()
    with (tmp_path / "all.csv").open() as file:
        listed = list(csv.DictReader(file))
    for row, text, wanted in zip(found.rows(), listed, expected, strict=True):
        assert {name: row[name] for name in wanted} == wanted
        assert text == {name: "" if value is None else str(value) for name, value in row.items()}
    with pytest.raises(ValueError, match=r"all\.txt: results are written as \.csv, \.json, \.parquet, \.pq"):
        found.save(tmp_path / "all.txt")


def test_names_of_losses() -> None:
    class Own(Loss):
        pass

    assert results.loss_name(losses.by_name("hinge")) == "hinge"
    assert results.loss_name(losses.by_name("quantile")) == "quantile"
    assert results.loss_name(Own()) == "Own"
