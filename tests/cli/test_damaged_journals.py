"""Journals that are damaged: a line that names the journal and not the certificate, whatever is wrong."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from steelyard.cli import main
from steelyard.labelling import export
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import answer, begin

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[:-1],
    "a bit": lambda content: (
        content[: len(content) // 2]
        + bytes([content[len(content) // 2] ^ 1])
        + content[len(content) // 2 + 1 :]
    ),
    "no text": lambda content: content[:-1] + b"\xff",
    "another thing": lambda _: b"[]",
    "deep": lambda _: b"[" * 100_000,
}
BROKEN = {"cut", "no text", "deep"}
"""After which it is no JSON, whatever it was."""
STORED_AS_JSON = {
    ("attempts", "start"), ("project", "project"), ("about", "about"), ("documents", "fields"),
    ("attempt_entries", "label"), ("estimates", "estimate"),
}  # fmt: skip


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a journal with a certificate."""
    folder = tmp_path_factory.mktemp("labelled")
    with begin(folder) as project, closing(LabellingSession(project)) as session:
        session.start()
        answer(session, 30)
        assert session.worker.wait()
        session.certify("error", 0.4)
        while session.attempts.current is not None:
            answer(session, 1)
        assert session.worker.wait()
        export.write_certificate(project, folder / "proof.json", session.feed.classifier)
    (folder / "messages.csv.journal").rename(folder / "whole.journal")
    return folder


def columns(path: Path) -> Iterator[tuple[str, str, str]]:
    """Tables, their columns of text or bytes, and the type of these."""
    with closing(sqlite3.connect(path)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, column, kind, *_ in db.execute(f"PRAGMA table_info({table})"):
                if kind in ("TEXT", "BLOB"):
                    yield table, column, kind


def damage(path: Path, table: str, column: str, kind: str, change: Callable[[bytes], bytes]) -> bool:
    """Change the first entry; whether there is one."""
    with closing(sqlite3.connect(path)) as db, db:
        found = db.execute(
            f'SELECT rowid, CAST("{column}" AS BLOB) FROM {table} WHERE "{column}" IS NOT NULL LIMIT 1'
        ).fetchone()
        if found is None:
            return False
        values = change(found[1]), found[0]
        db.execute(f'UPDATE {table} SET "{column}" = CAST(? AS {kind}) WHERE rowid = ?', values)
    return True


@pytest.mark.no_cover
@pytest.mark.parametrize("how", DAMAGES)
def test_damage_is_told_in_a_line(labelled: Path, tmp_path: Path, how: str) -> None:
    path, proof = tmp_path / "damaged.journal", labelled / "proof.json"
    commands: list[list[Any]] = [
        ["verify", proof, "--journal", path],
        ["export", path, "-o", tmp_path / "a.csv", "--certificate", tmp_path / "a.json", "--force"],
    ]
    silent = {(table, column) for table, column, _ in columns(labelled / "whole.journal")}
    assert silent >= STORED_AS_JSON
    for table, column, kind in columns(labelled / "whole.journal"):
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        shutil.copy(labelled / "whole.journal", path)
        if not damage(path, table, column, kind, DAMAGES[how]):
            continue
        for command in commands:
            result = CliRunner().invoke(main, ["active", *map(str, command)])
            where = table, column, command[0], result.output
            assert result.exception is None or isinstance(result.exception, SystemExit), where
            if result.exit_code:
                silent.discard((table, column))
                assert result.exit_code == 1, where
                assert len(result.stderr.splitlines()) == 1, where
                if (table, column) in STORED_AS_JSON and (how in BROKEN or table == "attempts"):
                    assert result.stderr.startswith(f"Error: {path}: "), where
                    assert "damaged" in result.stderr or table == "documents", where
    assert how not in BROKEN or not silent & STORED_AS_JSON


def test_the_whole_journal_is_fine(labelled: Path) -> None:
    proof = labelled / "proof.json"
    assert json.loads(proof.read_bytes())["passed"]
    found = CliRunner().invoke(
        main, ["active", "verify", str(proof), "--journal", str(labelled / "whole.journal")]
    )
    assert found.exit_code == 0, found.output
