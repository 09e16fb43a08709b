"""The pictures of a sweep."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.model import Settings
from steelyard.sweep import grid, pictures
from steelyard.sweep.results import Results

pytest.importorskip("matplotlib")

AXES: dict[str, Any] = {
    "loss": ["squared", "hinge", "logistic"],
    "update": ["explicit", "invariant"],
    "learning_rate": [2.0**k for k in range(3)],
    "initial_t": [1.0, 10.0],
    "power_t": [0.5, 1.0],
}

FEW: dict[str, Any] = {"update": ["explicit", "invariant"], "learning_rate": [0.1, 0.3]}


def made(axes: grid.Grid, *, classes: int = 2, diverged: bool = True) -> Results:
    """With figures drawn at random."""
    results = Results.empty(grid.expand(Settings(), axes).points, classes=classes, held_out=classes > 0)
    random = np.random.default_rng(0)
    count = len(results.points)
    found: dict[str, Any] = {
        name: random.random(count) for name in results.found if name not in ("score", "rank", "diverged")
    }
    explicit = np.array([point.settings.update == "explicit" for point in results.points])
    results.fill(list(range(count)), found | {"diverged": explicit & (random.random(count) < 0.3) & diverged})
    return results


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_all_of_them(tmp_path: Path) -> None:
    paths = pictures.draw_pictures(made(AXES), tmp_path / "a" / "folder")
    assert [path.stem for path in paths if path.suffix == ".svg"] == [
        "schedules-squared", "schedules-hinge", "schedules-logistic", "explicit-against-invariant",
    ]  # fmt: skip
    assert all(path.with_suffix(".png").read_bytes().startswith(b"\x89PNG") for path in paths)
    for wanted in (
        "squared loss: held-out accuracy by schedule; × diverged",
        "explicit, power t = 0.5",
        "invariant, power t = 1",
        "learning rate",
        "initial t (weighted examples)",
        "held-out accuracy (lightest is best)",
    ):
        assert wanted in text_of(paths[0])
    for wanted in (
        "squared loss, 12 schedules, ",
        "of them diverged",
        "above the line the invariant update is better",
        "power t = 0.5",
        "explicit diverged: put at the edge",
        "explicit: held-out accuracy",
    ):
        assert wanted in text_of(paths[-2])


def test_the_same_again(tmp_path: Path) -> None:
    first, again = (pictures.draw_pictures(made(FEW), tmp_path / name)[0].read_bytes() for name in "ab")
    assert first == again


def test_numbers_have_losses(tmp_path: Path) -> None:
    paths = pictures.draw_pictures(made(FEW, classes=0, diverged=False), tmp_path)
    assert "progressive loss (lightest is least)" in text_of(paths[0])
    assert "diverged" not in text_of(paths[0])
    assert "below the line the invariant update is better" in text_of(paths[2])


def test_only_what_there_is(tmp_path: Path) -> None:
    assert pictures.draw_pictures(made({"l2": [0.0, 0.1]}), tmp_path) == []
    few = pictures.draw_pictures(made({"learning_rate": [0.1, 0.25], "l2": [0.0, 0.1]}), tmp_path)
    assert [path.name for path in few] == ["schedules-squared.svg", "schedules-squared.png"]


def test_all_diverged(tmp_path: Path) -> None:
    results = made(FEW)
    results.found["diverged"][:] = True
    assert len(pictures.draw_pictures(results, tmp_path)) == 4


def test_the_best_of_those_that_share_a_cell() -> None:
    results = made({"learning_rate": [0.1], "l2": [0.0, 0.1, 0.2]}, diverged=False)
    results.found["held_out_accuracy"][:] = [0.5, 0.7, 0.6]
    results.found["diverged"][:] = [False, False, True]
    cells, crossed = pictures._fill_cells(pictures._Measures(results), [0, 1, 2], [0.1], [1.0])
    assert cells.tolist() == [[0.7]]
    assert not crossed.any()


def test_files_are_named_after_losses_with_their_parameters(tmp_path: Path) -> None:
    axes: dict[str, Any] = {"loss": [losses.by_name("quantile", tau=0.9)], "learning_rate": [0.1, 0.3]}
    assert pictures.draw_pictures(made(axes, classes=0), tmp_path)[0].stem == "schedules-quantile-tau=0.9"


def test_labels_of_ticks() -> None:
    assert pictures._format_values([1.0, 2.0, 1024.0])[2] == "$2^{10}$"
    assert pictures._format_values([1.0, 1e8]) == ["$10^{0}$", "$10^{8}$"]
    assert pictures._format_values([0.0, 0.5, 1.0]) == ["0", "0.5", "1"]


def test_one_row_of_cells_leaves_room_for_the_label_of_the_scale() -> None:
    flat = pictures._draw_schedules(pictures._Measures(made(FEW)), "squared")
    assert flat.get_size_inches()[1] >= 3.4
