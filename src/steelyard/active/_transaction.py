"""Transactions of the journal's file: all of an entry, or nothing."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def transaction(db: sqlite3.Connection, *, to_disk: bool) -> Iterator[None]:
    """It survives a killed process; a power cut only if it is written `to_disk`.

    If the disk is full or the file is damaged, nothing has changed, and an OSError names the file.
    """
    try:
        db.execute(f"PRAGMA synchronous = {'FULL' if to_disk else 'NORMAL'}")
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    except sqlite3.DatabaseError as error:
        path = db.execute("PRAGMA database_list").fetchone()[2]  # which reads nothing of the file
        raise OSError(errno.EIO, f"could not be written ({error})", path) from error
