"""What is wrong with a journal, and what is wrong around it."""

import sqlite3

import pytest

from steelyard.active._damage import reading


def test_damage_names_the_journal() -> None:
    said = r"is damaged \(ValueError: no number\); use a copy: 'a.journal'"
    with pytest.raises(OSError, match=said), reading("a.journal"):
        raise ValueError("no number")


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR | 3 << 8])
def test_a_lock_or_a_full_disk_is_no_damage(code: int) -> None:
    locked = sqlite3.OperationalError("database is locked")
    locked.sqlite_errorcode = code
    with pytest.raises(sqlite3.OperationalError, match="database is locked"), reading("a.journal"):
        raise locked
