"""Commands as processes of their own: killed, interrupted, piped, on a terminal."""

import gzip
import os
import pty
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.running import rows, run, trained

# Blocks are small, so that a small file has many of them and many checkpoints.
COMMAND = """
import functools, sys
from steelyard.cli import main
from steelyard.engine import file_rows
from steelyard.io.stream import Stream
file_rows.Stream = functools.partial(Stream, block_size=2000)
main(sys.argv[1:])
"""
# The same, but it waits before its last passes: however late it is killed or interrupted, it has not ended.
UNFINISHED = """
import functools, itertools, sys, time
from steelyard.cli import main
from steelyard.engine import file_rows
from steelyard.io.stream import Stream
passes = itertools.count()
def stream(*given, **options):
    if next(passes) > 300:
        time.sleep(3600.0)
    return Stream(*given, **options, block_size=2000)
file_rows.Stream = stream
main(sys.argv[1:])
"""
PATIENCE = 300.0  # seconds: a command may have to compile its kernels first, on a busy machine
LONG = ("--passes", 400, "--holdout", 9, "--bits", 10, "--threads", 2)


def started(*arguments: object, program: str = COMMAND, **how: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)  # type: ignore[call-overload, no-any-return]


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text(rows(400, weights=True))
    return path


def test_killed_and_resumed(long_file: Path, tmp_path: Path) -> None:
    """At a random moment, perhaps in the middle of writing a checkpoint."""
    output, checkpoint = tmp_path / "m", tmp_path / "m.checkpoint"
    arguments = ("train", long_file, *LONG, "-o", output, "--checkpoint-every", 50)
    process = started(*arguments, program=UNFINISHED)
    wait_for(checkpoint, process)
    time.sleep(random.random() * 0.5)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not output.exists()
    trained(long_file, "--resume", checkpoint, "-o", output)
    trained(long_file, *LONG, "-o", tmp_path / "whole")
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()
    assert not checkpoint.exists()


def test_interrupted(long_file: Path, tmp_path: Path) -> None:
    output, checkpoint = tmp_path / "m", tmp_path / "m.checkpoint"
    run("train", long_file, "-o", output)
    before = output.read_bytes()
    arguments = ("train", long_file, *LONG, "-o", output, "--checkpoint-every", 50)
    process = started(*arguments, program=UNFINISHED)
    wait_for(checkpoint, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"Aborted!" in said
    assert f"interrupted: --resume {checkpoint} continues from its last checkpoint".encode() in said
    assert b"Traceback" not in said
    assert output.read_bytes() == before
    assert "a checkpoint, not finished" in run("inspect", checkpoint).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.checkpoint", "rows.vw"]


def test_interrupted_while_standard_input_says_nothing(long_file: Path) -> None:
    """The thread that reads is still waiting: the process must end all the same."""
    process = started("train", "-", "--json", "--threads", "2", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(long_file.read_bytes() * 100)  # more than what is looked at beforehand
    process.stdin.flush()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 1
    assert process.stderr is not None
    assert b"Fatal" not in process.stderr.read()
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


def test_whoever_reads_may_have_had_enough(long_file: Path, tmp_path: Path) -> None:
    run("train", long_file, "-o", tmp_path / "m")
    (tmp_path / "many.vw").write_bytes(long_file.read_bytes() * 50)
    process = started("predict", tmp_path / "m", tmp_path / "many.vw")
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("keeps", [True, False])
def test_a_model_is_kept_though_nobody_reads_the_table(long_file: Path, tmp_path: Path, keeps: bool) -> None:
    """Without one to keep there is nothing left to do."""
    given = ("-o", tmp_path / "m") if keeps else ()
    process = started("train", long_file, "--passes", 20, "--threads", 2, *given)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == (0 if keeps else 1)
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == (["m"] if keeps else []) + ["rows.vw"]


def read_all(terminal: int) -> bytes:
    seen = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # as a terminal ends on Linux
            return seen
        if not part:
            return seen
        seen += part


def test_a_terminal_sees_a_bar_and_a_pipe_the_table(long_file: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", COMMAND, "train", "-", "--threads", "2", "--passes", "1"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    with ThreadPoolExecutor(1) as pool:  # a terminal that nobody reads from would be full some time
        shown = pool.submit(read_all, ours)
        out, _ = process.communicate(gzip.compress(long_file.read_bytes()), timeout=PATIENCE)
        seen = shown.result(PATIENCE)
    os.close(ours)
    assert process.returncode == 0
    assert b"rows/s" in seen
    assert b"average loss" in out
    assert b"\x1b" not in out
    assert out.count(b"\n  ") >= 9
