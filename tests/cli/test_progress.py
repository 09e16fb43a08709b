"""Progress of training: the table, and a bar on a terminal, and only there."""

import io
import math
import sys
from pathlib import Path

import click
import pytest
from rich.console import Console
from rich.progress import Progress

from steelyard.cli import progress
from steelyard.cli.progress import Rates, Watcher
from steelyard.engine import file_training
from steelyard.engine.file_training import FileTraining
from steelyard.engine.run_options import RunOptions
from steelyard.io.read_options import ReadOptions
from steelyard.model import Settings
from tests.cli.running import blocks_of, rows


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_no_bar_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.bar(Rates()) as bar:
        bar.add_task("learning", rows=0)
    assert capsys.readouterr().err == ""


def begin(file: Path, passes: int = 1) -> FileTraining:
    return file_training.begin(
        [str(file)], ReadOptions(bits=8), RunOptions(passes), lambda inferred: [Settings()]
    )


def watch(file: Path, *, table: bool) -> None:
    """Train for two passes, with a bar."""
    training = begin(file, passes=2)
    with progress.bar(Rates()) as bar:
        training.run(Watcher(training, bar, table=table, say=click.echo))
        task = bar.tasks[0]
        assert task.completed == task.total == file.stat().st_size
        assert task.fields["rows"] == 100
        assert task.description == "pass 2"


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("to_terminal", [True, False])
def test_a_bar_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: bool, to_terminal: bool
) -> None:
    path = tmp_path / "rows.vw"
    path.write_text(rows(100))
    blocks_of(500, monkeypatch)
    out, err = Terminal() if to_terminal else io.StringIO(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    watch(path, table=table)
    assert "rows/s" in err.getvalue()
    shown = out.getvalue() + err.getvalue() if to_terminal else out.getvalue()
    assert ("average" in shown) == table
    assert shown.count(" 64 ") == int(table)
    if not to_terminal:
        assert "rows/s" not in out.getvalue()
        assert "\x1b" not in out.getvalue()


def test_a_table_that_begins_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a checkpoint the first lines have been shown already."""
    path = tmp_path / "rows.vw"
    path.write_text(rows(20) + "| a\n" * 20)
    blocks_of(100, monkeypatch)
    training = begin(path)
    training.loop.position = 0, 10
    training.run(Watcher(training, progress.bar(), table=True, say=click.echo))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [line[2] for line in lines] == ["16", "32"]
    assert lines[1][4] == "unknown"
    assert training.engine.models()[0].total_weight == 10.0


def test_rates() -> None:
    now = 7.0
    bar = Progress(console=Console(file=io.StringIO()), get_time=lambda: now)
    task = bar.add_task("", total=10, rows=0)
    assert Rates().render(bar.tasks[0]).plain == "0 rows/s  0 MB/s"
    bar.update(task, completed=5, rows=3)
    now += 1.0
    assert Rates().render(bar.tasks[0]).plain == "3 rows/s  0 MB/s"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.5, "0.5000"),
        (-12.34567, "-12.3457"),
        (221146.0, "221146.00"),
        (-123456789.0, "-1.2e+08"),
        (999999999.0, "999999999"),
        (-1.26e300, "-1.3e+300"),
        (math.inf, "inf"),
    ],
)
def test_numbers_of_any_size_stay_in_their_column(number: float, text: str) -> None:
    assert progress.fitted(number, decimals=4, width=9) == text
