"""What commands have in common: the clock, output that nobody reads."""

import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

from steelyard.cli import common
from tests.cli.running import run


def test_who_keeps_nothing_ends_when_nobody_listens() -> None:
    assert common.printer(keeps=False) is click.echo
    assert common.printer(keeps=True) is common.say


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    common.say("one")
    common.say("")
    assert capsys.readouterr().out == "one\n\n"


def test_all_that_follows_goes_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what was still waiting to be written when the pipe broke."""
    said = []

    def broken(line: str) -> None:
        said.append(line)
        raise BrokenPipeError

    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        out.write("waiting")
        monkeypatch.setattr(click, "echo", broken)
        common.say("one")
        monkeypatch.undo()
        out.write("two")
    assert said == ["one"]
    assert (tmp_path / "out").read_text() == ""


def test_the_model_is_kept_though_nobody_listens(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("train", file, "-o", tmp_path / "expected")
    monkeypatch.setattr(common, "say", lambda line: None)
    assert run("train", file, "-o", tmp_path / "m").stdout == ""
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


def test_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    first = common.seconds_since_start()
    time.sleep(0.02)
    assert common.seconds_since_start() >= first + 0.015
    assert 0.0 < first < 24 * 3600.0

    def missing(*_: Any) -> str:
        raise OSError("no such system")

    monkeypatch.setattr(Path, "read_text", missing)
    assert 0.0 < common.seconds_since_start() <= time.process_time()
