"""Files are replaced whole or not at all."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from steelyard import _atomic_files, cli


def test_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("one", "two"):
        with _atomic_files.replacing(path) as temporary:
            temporary.write_text(text)
            assert not path.exists() or path.read_text() == "one"
        assert path.read_text() == text
    with pytest.raises(TypeError), _atomic_files.replacing(path) as temporary:
        temporary.write_text(3)  # type: ignore[arg-type]
    assert path.read_text() == "two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match="there is no folder"),
        _atomic_files.replacing(tmp_path / "a/b"),
    ):
        pass


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space") as caught, _atomic_files.replacing(tmp_path / "file"):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(tmp_path / "file")
    with pytest.raises(OSError, match="No space") as caught, _atomic_files.replacing(tmp_path / "file"):
        raise OSError(28, "No space left on device", "another")
    assert caught.value.filename == "another"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with _atomic_files.replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    with _atomic_files.replacing(Path("/dev/null")) as path:
        assert path == Path("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    with _atomic_files.replacing(tmp_path / "pipe") as path:
        assert path == tmp_path / "pipe"
    assert path.is_fifo()


def test_what_killed_processes_left_is_swept_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        "dead": f".file.{2**22 + 7}.tmp",
        "alive": f".file.{os.getpid()}.tmp",
        "absurd": f".file.{10**30}.tmp",
    }
    for name in (*names.values(), ".file.notes.tmp", ".other.1.tmp"):
        (tmp_path / name).touch()

    def kill(process: int, number: int) -> None:
        assert number == 0
        if process == 2**22 + 7:
            raise ProcessLookupError
        if process == 10**30:
            raise OverflowError
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    with _atomic_files.replacing(tmp_path / "file") as temporary:
        temporary.write_text("new")
    assert sorted(each.name for each in tmp_path.iterdir()) == [".file.notes.tmp", ".other.1.tmp", "file"]
    assert _atomic_files._runs(1)
    monkeypatch.undo()
    assert _atomic_files._runs(os.getpid())


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals come to the main thread"
)
def test_terminated_commands_leave_nothing_behind(tmp_path: Path) -> None:
    def terminated() -> None:
        with cli._tidy_when_terminated(), _atomic_files.replacing(tmp_path / "file") as temporary:
            temporary.touch()
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60.0)  # it comes at once

    with pytest.raises(SystemExit) as ended:
        terminated()
    assert ended.value.code == 143
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    # a handler that is there stays, and a thread may not set any
    for usual in (True, False):
        before = signal.signal(signal.SIGTERM, signal.SIG_DFL if usual else signal.SIG_IGN)
        with cli._tidy_when_terminated():
            assert (signal.getsignal(signal.SIGTERM) == signal.SIG_IGN) is not usual
        signal.signal(signal.SIGTERM, before)


def test_removed_with_what_killed_processes_left(tmp_path: Path) -> None:
    kept = tmp_path / f".file.{os.getpid()}.tmp"
    for path in (tmp_path / "file", tmp_path / f".file.{1 << 30}.tmp", kept):
        path.touch()
    _atomic_files.remove(tmp_path / "file")
    _atomic_files.remove(tmp_path / "file")
    assert list(tmp_path.iterdir()) == [kept]
