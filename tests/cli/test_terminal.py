"""Nothing that stands in a file steers the terminal."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.cli.terminal import guarded_terminals, visible, visible_bytes
from tests.cli.running import run

ESCAPES = "\x1b]0;hacked\x07\x1b[2J\x9b31m\x08"


@pytest.mark.parametrize("moves", [True, False])
def test_control_characters_are_shown(moves: bool) -> None:
    shown = visible(f"a{ESCAPES}\n\tb \x1b[1;31mred\x1b[0m\u202e é", moves=moves)
    assert shown == ("a\\x1b]0;hacked\\x07\\x1b[2J\\x9b31m\\x08\n\tb \x1b[1;31mred\x1b[0m\\u202e é")
    assert (visible("\r\x1b[K\x1b[1A", moves=moves) == "\r\x1b[K\x1b[1A") == moves


def test_bytes() -> None:
    assert visible_bytes(b"\x1b]0;\xff \xc3\xa9\n") == "\\x1b]0;\\xff é\n".encode()


def on_a_terminal(*arguments: object) -> bytes:
    """All that a command writes to its terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from steelyard.cli import main; main()", *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # as a terminal ends on Linux
                break
            if not part:
                break
            seen += part
        process.wait(60)
    os.close(ours)
    return seen


def test_hostile_labels_columns_cells_and_file_names(tmp_path: Path) -> None:
    rows = [
        {f"y{ESCAPES}": f"a{ESCAPES}" if k % 2 else "b", f"c{ESCAPES}": f"v{ESCAPES}{k % 3}"}
        for k in range(40)
    ]
    file, model = tmp_path / f"rows{ESCAPES}.jsonl", tmp_path / "m"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("train", file, "--label", f"y{ESCAPES}", "--bits", 10, "-o", model)
    for arguments in (("inspect", model), ("predict", model, file, "--as", "label"), ("train", file)):
        seen = on_a_terminal(*arguments)
        assert b"hacked" in seen
        for part in (b"\x1b]", b"\x07", b"\x1b[2J", "\x9b".encode(), b"\x08"):
            assert part not in seen, (arguments, part)


def test_streams_that_are_no_terminal_are_left_alone() -> None:
    before = sys.stdout, sys.stderr
    with guarded_terminals():
        assert (sys.stdout, sys.stderr) == before


def test_terminals_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with open(theirs, "w") as terminal:  # noqa: PTH123 - it has a number, no path
        monkeypatch.setattr(sys, "stdout", terminal)
        with guarded_terminals():
            sys.stdout.write("a\x1b[2J\r")
        assert sys.stdout is terminal
        terminal.write("\x07")
    assert os.read(ours, 100) == b"a\\x1b[2J\\r\x07"
    os.close(ours)
