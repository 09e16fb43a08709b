"""Whole commands on files that were damaged: they end well, or with a line that says what is wrong."""

from pathlib import Path
from typing import Any

from click.testing import CliRunner

from steelyard.cli import main
from tests.filtering.corpus import rows, write_jsonl

# Files that are written a thousand times a minute need no disk; where there is no such folder, they get one.
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def tried(*arguments: Any, stdin: bytes | None = None) -> bool:
    """Run a command. Returns whether it succeeded; a traceback is raised."""
    result = CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2), result.exit_code
    assert result.exit_code == 0 or "Error: " in result.output, result.output
    return result.exit_code == 0


def must(*arguments: Any) -> None:
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output


def documents(folder: Path) -> Path:
    """A small labelled table: 60 rows."""
    return write_jsonl(folder / "rows.jsonl", rows(60, 1))


def assert_no_rest(folder: Path) -> None:
    rest = [path.name for path in folder.iterdir() if path.name.endswith((".tmp", ".partial"))]
    assert not rest, rest
