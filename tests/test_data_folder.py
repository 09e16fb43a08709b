"""The page on the data folder: its commands are commands, and what it says of them is what they say."""

import os
import shlex
import tempfile
from pathlib import Path

import click
import pytest

from benchmarks.quality import data_folder
from benchmarks.quality.data_folder import ENTRIES, Entry
from steelyard.cli import main
from tests.support.vw_text import data_file

CONTEXT = click.Context(main)
LINES = [line for entry in ENTRIES for line in (entry.train, entry.evaluate) if line]


@pytest.mark.parametrize("line", LINES)
def test_the_commands_are_understood(line: str) -> None:
    words = shlex.split(line)
    name, *arguments = words[words.index("steelyard") + 1 :]
    command = main.get_command(CONTEXT, name)
    assert command is not None
    command.make_context(name, arguments, parent=CONTEXT)


@pytest.mark.parametrize("line", LINES)
def test_the_page_has_the_commands(line: str) -> None:
    assert f"\n{line}\n" in data_folder.PAGE.read_text(encoding="utf-8")


def test_every_file_is_read_by_some_command() -> None:
    folder = data_file("README.md").parent
    patterns = [
        word.removeprefix("$STEELYARD_DATA/").partition("=$STEELYARD_DATA/")[0]
        for line in LINES
        for word in shlex.split(line)
        if word.startswith("$STEELYARD_DATA")
    ]
    read = {path for pattern in patterns for path in folder.glob(pattern)}
    there = {path for path in folder.rglob("*") if path.is_file() and path.name != "README.md"}
    assert there - read == set()


def test_a_command_that_fails_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    with pytest.raises(RuntimeError, match="there is no such file"):
        data_folder.figures(Entry("nothing", "steelyard train $STEELYARD_DATA/nothing.vw"), tmp_path)


@pytest.mark.soak
def test_the_page_says_what_comes_out() -> None:
    os.environ["STEELYARD_DATA"] = str(data_file("README.md").parent)
    with tempfile.TemporaryDirectory() as folder:
        found = {entry.title: data_folder.figures(entry, Path(folder)) for entry in ENTRIES}
    assert data_folder.PAGE.read_text(encoding="utf-8") == data_folder.page(found), (
        "docs/data-folder.md is stale: python -m benchmarks.quality.data_folder"
    )
