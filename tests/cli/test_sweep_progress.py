"""What is seen while a sweep runs."""

import io
import signal
import sys
from pathlib import Path

import pytest

from steelyard.cli import progress
from steelyard.engine.row_sources import RowsInMemory
from steelyard.model import Settings
from steelyard.sweep import grid
from steelyard.sweep.search import Search, SearchProgress
from tests.engine.problems import FEATURES, numbers


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def search(memory: int | None = None) -> Search:
    points = grid.expand(
        Settings(scaling="row_norm"), {"learning_rate": [0.01 * k for k in range(1, 41)]}
    ).points
    return Search(points, RowsInMemory(numbers(100)), features=FEATURES, memory=memory)


@pytest.mark.parametrize(("memory", "text"), [(None, "learning"), (3000, "round 2 of 2")])
def test_a_bar_on_a_terminal(memory: int | None, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    made = search(memory)
    with progress.watching_search(None) as watch:
        made.run(watch)
    assert text in err.getvalue()
    assert "rows × models" in err.getvalue()


def test_nothing_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    made = search()
    with progress.watching_search(None) as watch:
        made.run(watch)
    assert capsys.readouterr().err == ""


def interrupted(state: Path | None, times: int) -> None:
    with progress.watching_search(state) as watch:
        watch(SearchProgress(0, 1, 0.5, 10))
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)


def test_who_asks_twice_does_not_wait(tmp_path: Path) -> None:
    interrupted(tmp_path / "state", 1)  # nothing has come by to notice it
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "state", 2)


def test_without_a_state_ctrl_c_is_what_it_was() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(None, 1)
