"""The folder of a run: for one process at a time, and for full or quick runs, never both."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from paper.store import write_text
from paper.study import Scope
from steelyard._file_lock import FileLock

_OURS = ("steps", "tables", "figures", "prepared")
_TEMPORARY = re.compile(r"\..+\.\d+\.tmp")  # as steelyard._atomic_files names them


@contextmanager
def lock_folder(folder: Path, scope: Scope) -> Iterator[None]:
    """Lock the folder, and make it if needed. A process that is killed releases the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    if not lock.acquire():
        raise click.ClickException(
            f"process {lock.read_note() or 'unknown'} is using {folder}; wait for it, "
            "or name another folder with --output"
        )
    try:
        lock.write_note(str(os.getpid()))
        _one_kind(folder, scope)
        _tidy(folder)
        yield
    finally:
        lock.release()


def _one_kind(folder: Path, scope: Scope) -> None:
    """Results of a quick run must not be mistaken for those of a full one."""
    path = folder / "scope.json"
    try:
        quick = json.loads(path.read_text(encoding="utf-8"))["quick"]
    except (OSError, ValueError, KeyError, TypeError):
        if (folder / "steps").exists():
            raise click.ClickException(
                f"{folder} has results, but {path.name} does not say whether of a quick or a full run; "
                "remove the folder, or name another with --output"
            ) from None
        write_text(path, json.dumps({"quick": scope.quick}))
        return
    if quick != scope.quick:
        there, wanted = ("quick", "full") if quick else ("full", "quick")
        raise click.ClickException(
            f"{folder} has the results of a {there} run, and this is a {wanted} one; "
            "name another folder with --output"
        )


def _tidy(folder: Path) -> None:
    """Remove what a killed process was writing."""
    inside = [path for name in _OURS for path in (folder / name).rglob("*.tmp")]
    for path in [*folder.glob(".*.tmp"), *inside]:
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)
