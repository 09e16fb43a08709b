"""Figures in the house style: how they get into files and pages, and what happens without matplotlib."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from steelyard import plotting


def draw() -> Figure:
    figure = plotting.new_figure(2.0, 1.0)
    axes = figure.subplots()
    axes.plot([1, 10, 100], [1, 2, 3], label="a line")
    return figure


def test_a_figure_is_saved_as_svg_and_png(tmp_path: Path) -> None:
    paths = plotting.save_figure(draw, tmp_path / "a.figure")
    assert [path.name for path in paths] == ["a.figure.svg", "a.figure.png"]
    assert ElementTree.fromstring(paths[0].read_bytes()).tag.endswith("svg")
    assert paths[1].read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_drawn_again_a_file_is_the_same(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        with mpl.rc_context(plotting.STYLE):
            plotting.write_figure(draw(), path, Title="a title")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_figure_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    class Failing(Figure):
        def savefig(self, *_: object, **__: object) -> None:
            raise RuntimeError("no")

    (tmp_path / "a.svg").write_text("old")
    with pytest.raises(RuntimeError, match="no"):
        plotting.write_figure(Failing(), tmp_path / "a.svg")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.svg", "old")]


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plotting.is_available()
    plotting.require_matplotlib()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not plotting.is_available()
    with pytest.raises(ImportError, match=r'pip install "steelyard\[plot\]"'):
        plotting.require_matplotlib()
