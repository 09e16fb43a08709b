"""A lock that one has: others see it, and its end."""

import os
from pathlib import Path

import pytest

from steelyard._file_lock import FileLock


def test_one_at_a_time(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "a-lock"), FileLock(tmp_path / "a-lock")
    assert one.acquire()
    assert not two.acquire()
    assert two.read_note() == ""
    one.write_note("over here")
    assert two.read_note() == "over here"
    one.release()
    one.release()
    assert two.read_note() == ""
    assert not (tmp_path / "a-lock").exists()
    assert two.acquire()
    two.release()


def test_the_note_of_a_killed_process_is_gone(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "a-lock")
    (tmp_path / "a-lock").write_text(" over here")
    assert lock.acquire()
    assert lock.read_note() == ""
    lock.release()


def test_a_file_that_its_owner_removes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = tmp_path / "a-lock", os.open
    times: list[int] = []

    def slow(*arguments: object) -> int:
        found = opened(*arguments)  # type: ignore[arg-type]
        if not times:
            path.unlink()
        times.append(found)
        return found

    monkeypatch.setattr(os, "open", slow)
    lock = FileLock(path)
    assert lock.acquire()
    assert len(times) == 2
    lock.release()
