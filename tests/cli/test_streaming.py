"""Lines of a pipe are answered as they come."""

import os
import threading
from pathlib import Path

import pytest

from steelyard.cli.commands import predict
from steelyard.io import sources
from tests.cli.running import refused, run


class Conversation:
    """A command whose input and output are pipes."""

    def __init__(self, *arguments: object, monkeypatch: pytest.MonkeyPatch) -> None:
        (theirs, inward), (outward, answers) = os.pipe(), os.pipe()
        self._to, self._from = os.fdopen(inward, "wb", 0), os.fdopen(outward, "rb", 0)
        self._theirs = os.fdopen(theirs, "r"), os.fdopen(answers, "w")
        monkeypatch.setattr("sys.stdin", self._theirs[0])
        monkeypatch.setattr("sys.stdout", self._theirs[1])
        self._thread = threading.Thread(
            target=predict.command.main, args=([*map(str, arguments)],), kwargs={"standalone_mode": False}
        )
        self._thread.start()

    def say(self, lines: str) -> None:
        self._to.write(lines.encode())

    def hear(self, count: int) -> list[str]:
        found = b""
        while found.count(b"\n") < count:
            found += self._from.read(1 << 16)
        return found.decode().splitlines()

    def end(self) -> None:
        self._to.close()
        self._thread.join()
        for file in (self._from, *self._theirs):
            file.close()


@pytest.mark.parametrize("options", [("--threads", "1"), ("--threads", "4"), ("--stream",)])
def test_a_conversation(
    file: Path, model: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = file.read_text().splitlines(keepends=True)
    wanted = run("predict", model, file).stdout.splitlines()
    talk = Conversation(model, "-", *options, monkeypatch=monkeypatch)
    for k in (0, 1, 2):
        talk.say(lines[k])
        assert talk.hear(1) == [wanted[k]]
    talk.say("".join(lines[3:50]) + lines[50][:5])
    assert talk.hear(47) == wanted[3:50]
    talk.say(lines[50][5:] + lines[51].rstrip("\n"))
    assert talk.hear(1) == [wanted[50]]
    talk.end()


def test_short_lines_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, model = tmp_path / "rows.csv", tmp_path / "m.model"
    table.write_text("x,y\n" + "1,a\n2,b\n" * 9)
    run("train", table, "--bits", "12", "-o", model)
    wanted = run("predict", model, table, "--as", "label").stdout.splitlines()
    talk = Conversation(model, "-", "--as", "label", monkeypatch=monkeypatch)
    talk.say("x\n")
    talk.say("1\n")
    assert talk.hear(1) == wanted[:1]
    talk.say("2\n")
    assert talk.hear(1) == wanted[1:2]
    talk.end()


def test_every_line_has_an_answer(model: Path) -> None:
    text = b"|a w1\nbad\n\n1 'tag|a w2\n" + b"|a w3\n" * 20 + b"|a w3:x\n"
    result = run("predict", model, "-", "--stream", stdin=text)
    answers = result.stdout.split("\n")
    assert [k for k, answer in enumerate(answers) if not answer] == [1, 2, 24, 25]
    assert answers[3].endswith(" tag")
    assert "standard input, line 2: " in result.stderr
    assert "standard input, line 25: 'w3:x': the value after the : is not a number" in result.stderr


def test_lines_in_another_encoding(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.jsonl", tmp_path / "m.model"
    rows.write_text('{"text": "café noir", "y": "a"}\n{"text": "thé vert", "y": "b"}\n' * 9)
    run("train", rows, "--label", "y", "--bits", "12", "-o", model)
    wanted = run("predict", model, rows).stdout
    text = rows.read_text().encode("latin-1")
    assert run("predict", model, "-", "--stream", "--encoding", "latin-1", stdin=text).stdout == wanted


def test_formats_without_lines(tmp_path: Path) -> None:
    table, model = tmp_path / "rows.csv", tmp_path / "m.model"
    table.write_text("x,y\n" + "1,a\n2,b\n" * 9)
    run("train", table, "--bits", "12", "-o", model)
    assert "--stream: csv has no row on each line" in refused("predict", model, table, "--stream")


def test_compressed_pipes_are_read_as_ever(file: Path, model: Path, tmp_path: Path) -> None:
    import gzip

    wanted = run("predict", model, file).stdout
    assert run("predict", model, "-", stdin=gzip.compress(file.read_bytes())).stdout == wanted


def test_bytes_of_pipes_are_counted(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"1 |a b\n" * 10)
    os.close(writing)
    path = f"/dev/fd/{reading}"
    with sources.open_source(path) as source:
        assert len(source.read(1000)) == source.position == 70
        assert source.read(1) == b""
    os.close(reading)
