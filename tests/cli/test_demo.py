"""`steelyard demo`."""

import errno
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from matplotlib.lines import Line2D

from steelyard import losses, updates
from steelyard.cli import comparison, main, pictures

Cells = dict[tuple[str, str], tuple[float, float, float]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own: without --output the picture lands there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def demo(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["demo", *arguments])


@pytest.fixture
def cells(without_matplotlib: None) -> Cells:
    return table(demo())


def table(result: Result) -> Cells:
    """The cells of the printed table, by loss and update."""
    cells: Cells = {}
    loss = ""
    for line in result.stdout.splitlines():
        if line.startswith("│"):
            first, update, *numbers = (cell.strip() for cell in line.strip("│").split("│"))
            loss = first or loss
            at_once, copies, difference = (float(number) for number in numbers)
            cells[loss, update] = at_once, copies, difference
    return cells


# The numbers, worked out here without any of our own code


def test_squared(cells: Cells) -> None:
    assert cells["squared", "explicit"] == (25.0, 1.0, 24.0)
    assert cells["squared", "implicit"] == (round(25 / 26, 4), 1.0, round(25 / 26 - 1, 4))
    assert cells["squared", "second_order"] == cells["squared", "implicit"]
    assert cells["squared", "invariant"] == (1.0, 1.0, 0.0)


def test_hinge(cells: Cells) -> None:
    assert cells["hinge", "explicit"] == (25.0, 1.0, 24.0)
    assert cells["hinge", "implicit"] == cells["hinge", "invariant"] == (1.0, 1.0, 0.0)
    assert ("hinge", "second_order") not in cells


def test_logistic(cells: Cells) -> None:
    at_once, copies, difference = cells["logistic", "explicit"]
    assert at_once == 12.5
    assert difference == pytest.approx(12.5 - copies, abs=1e-4)
    p = 0.0
    for _ in range(50):
        p += 0.5 / (1.0 + math.exp(p))
    assert copies == pytest.approx(p, abs=1e-4)
    at_once, copies, difference = cells["logistic", "invariant"]
    assert at_once + math.expm1(at_once) == pytest.approx(25.0, abs=2e-3)  # δ + e^0·expm1(δ) = u
    assert (copies, difference) == (at_once, 0.0)
    at_once, _, _ = cells["logistic", "implicit"]
    assert at_once == pytest.approx(25.0 / (1.0 + math.exp(at_once)), abs=1e-3)
    assert cells["logistic", "second_order"][0] == round(12.5 / (1.0 + 25.0 * 0.25), 4)


def test_the_table_has_every_update_of_every_loss_shown(cells: Cells) -> None:
    shown = {(loss, name) for loss in comparison.LOSSES for name in updates.names_for(losses.by_name(loss))}
    assert set(cells) == shown


@pytest.mark.parametrize("loss", [name for name in losses.names() if name not in comparison.LOSSES])
def test_the_comparison_holds_for_every_other_loss_too(loss: str) -> None:
    invariant = comparison.rows(loss)[-1]
    assert invariant.update == "invariant"
    assert invariant.difference == pytest.approx(0.0, abs=1e-12)


@pytest.mark.usefixtures("without_matplotlib")
def test_it_says_what_to_see() -> None:
    words = " ".join(demo().stdout.split())
    assert "explicit: 25.0, while 50 copies give 1.0." in words
    assert "invariant: the same both ways." in words


# The picture


def test_the_picture_lands_here_unless_told_otherwise(folder: Path) -> None:
    result = demo()
    assert result.exit_code == 0
    assert result.stdout.endswith("The picture is in weight-50.png\n")
    assert [file.name for file in folder.iterdir()] == ["weight-50.png"]


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")]
)
def test_the_suffix_decides_the_format(folder: Path, name: str, start: bytes) -> None:
    assert demo("--output", name).exit_code == 0
    assert (folder / name).read_bytes().startswith(start)


def test_an_svg_drawn_again_is_the_same_file(folder: Path) -> None:
    demo("--output", "a.svg")
    demo("--output", "b.svg")
    assert (folder / "a.svg").read_bytes() == (folder / "b.svg").read_bytes()


def test_an_old_picture_is_replaced(folder: Path) -> None:
    (folder / "a.png").write_text("old")
    assert demo("--output", "a.png").exit_code == 0
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")


def points(line: Line2D) -> dict[float, float]:
    return dict(zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True))


def test_lines_are_steps_and_dots_are_copies() -> None:
    figure = pictures.draw()
    panels = [axes for axes in figure.axes if axes.get_lines()]
    assert len(panels) == sum(len(comparison.rows(loss)) for loss in comparison.LOSSES)
    explicit, implicit, *_, invariant = panels
    for axes, line_at_50, dot_at_50 in (
        (explicit, 25.0, 1.0),
        (implicit, 25 / 26, 1.0),
        (invariant, 1.0, 1.0),
    ):
        line, dots = (points(artist) for artist in axes.get_lines())
        nearest = min(line, key=lambda weight: abs(weight - 50.0))
        assert line[nearest] == pytest.approx(line_at_50, rel=0.02)
        assert dots[50.0] == pytest.approx(dot_at_50)


def test_the_axes_are_labelled() -> None:
    figure = pictures.draw()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "one step of weight $h$",
        "$h$ copies, one step each",
    ]
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert [title.replace("-", "_") for title in titles] == updates.names()
    labels = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
    assert labels == [f"{loss} loss\nprediction" for loss in comparison.LOSSES]
    assert [axes.get_xlabel() for axes in figure.axes].count("importance weight $h$") == len(titles)


# What can go wrong


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_the_table_is_still_shown(folder: Path) -> None:
    result = demo()
    assert result.exit_code == 0
    assert table(result)["squared", "explicit"] == (25.0, 1.0, 24.0)
    assert result.stdout.endswith('The picture needs matplotlib: pip install "steelyard[plot]"\n')
    assert not list(folder.iterdir())


@pytest.mark.usefixtures("without_matplotlib")
def test_a_picture_asked_for_and_not_made_is_a_failure(folder: Path) -> None:
    result = demo("--output", "a.png")
    assert result.exit_code == 1
    assert table(result)
    assert result.stderr == (
        'Error: a.png was not written. The picture needs matplotlib: pip install "steelyard[plot]"\n'
    )
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        ("missing/a.png", "there is no folder 'missing'; make it first."),
        ("a.gif", "'a.gif' must end in .png or .svg."),
        ("a", "'a' must end in .png or .svg."),
    ],
)
def test_a_bad_output_is_refused_before_anything_else(folder: Path, output: str, complaint: str) -> None:
    result = demo("--output", output)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert not result.stdout
    assert not list(folder.iterdir())


def test_nothing_half_written_stays_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(path: Path, suffix: str) -> None:
        path.write_text("half a pic")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pictures, "save", save)
    (folder / "a.png").write_text("old")
    result = demo("--output", "a.png")
    assert result.exit_code == 1
    assert result.stderr == "Error: could not write a.png: No space left on device\n"
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [("a.png", "old")]
