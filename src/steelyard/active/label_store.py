"""`LabelStore`: documents and what people said about them, in the file of the journal.

Equal documents are one *item*, which is asked about once. Labels are append-only: of each person and item the
last entry is in force. An entry is on disk before anyone is told so. The journal's own answers follow from
these; whatever of them a killed process had not passed on, the next one does.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from steelyard.active._damage import reading
from steelyard.active._journal_file import transaction
from steelyard.active.journal import Journal

LABEL, CERTIFY, IMPORT = "label", "certify", "import"
WITHDRAWN, RESTORED = "withdrawn", "restored"
"""The last entry of a person is taken back: they say nothing any more, or again what they said before it."""
IN_FILE = "file"
"""The annotator of labels that came with the documents."""

_TABLES = """
CREATE TABLE IF NOT EXISTS project (project TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS documents (
    row INTEGER PRIMARY KEY, item INTEGER NOT NULL, id TEXT NOT NULL, fields TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS documents_by_item ON documents (item);
CREATE TABLE IF NOT EXISTS labels (
    id INTEGER PRIMARY KEY, item INTEGER NOT NULL, label TEXT, annotator TEXT NOT NULL, time REAL NOT NULL,
    purpose TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS labels_by_item ON labels (item);
CREATE TABLE IF NOT EXISTS estimates (answers INTEGER PRIMARY KEY, estimate TEXT NOT NULL);
"""
_FIRST_FIELDS = (
    "SELECT fields FROM documents WHERE row IN (SELECT min(row) FROM documents GROUP BY item) ORDER BY item"
)


@dataclass(frozen=True)
class Document:
    """One row of a file. `fields` are its columns, `label` what the file says about it."""

    id: str
    fields: dict[str, Any]
    label: str | None = None

    @property
    def fields_as_json(self) -> str:
        return json.dumps(self.fields, ensure_ascii=False, default=str)


@dataclass(frozen=True, slots=True)  # there is one for every answer
class Label:
    """What one person said about an item; a label of None is a skip."""

    item: int
    label: str | None
    annotator: str
    time: float
    purpose: str = LABEL


Said = Mapping[str, str | None]
"""What people say about an item, by their names, in the order of their first answers; None is a skip."""


class LabelStore:
    """Its own connection to the journal's file; threads take turns by `lock`, which the journal has, too."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._db, self._reading, self._searching, self._moving = (journal.file.connect() for _ in range(4))
        self.lock, self._read_lock, self._search_lock = (
            journal.file.writing,
            threading.Lock(),
            threading.Lock(),
        )
        if not journal.file.read_only:
            with self.lock, transaction(self._db, to_disk=True):
                for statement in _TABLES.strip().split(";\n"):
                    self._db.execute(statement)

    def close(self) -> None:
        for each in (self._db, self._reading, self._searching, self._moving):
            each.close()

    def complete_file(self) -> None:
        """Move what was written last from the -wal file beside it into the file, so that a copy is whole.

        Nobody's answer waits for that: it needs no lock. If the disk is full, it is for the next call to do.
        """
        with suppress(sqlite3.OperationalError):
            self._moving.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def project(self) -> dict[str, Any] | None:
        """Its settings; None if the journal has no documents, such as one that Python code keeps."""
        with reading(self._journal.path):
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'project'").fetchone():
                return None
            row = self._db.execute("SELECT project FROM project").fetchone()
            return None if row is None else json.loads(row[0])

    def save_project(self, project: dict[str, Any]) -> None:
        with self.lock, transaction(self._db, to_disk=True):
            self._save_project(project)

    def _save_project(self, project: dict[str, Any]) -> None:
        self._db.execute("DELETE FROM project")
        self._db.execute("INSERT INTO project VALUES (?)", (json.dumps(project),))

    def add_documents(
        self,
        documents: Iterable[Document],
        features: Sequence[str],
        project: Callable[[int], dict[str, Any]],
        now: float,
    ) -> int:
        """Add documents, all or none, and the project of so many items; returns the number of items.

        Documents are equal if their `features` are, the fields that are shown and learned.
        """
        with self.lock, transaction(self._db, to_disk=True):
            items: dict[str, int] = {}
            with reading(self._journal.path):
                for (fields,) in self._db.execute(_FIRST_FIELDS):
                    items[_content(json.loads(fields), features)] = len(items)
            first = self._db.execute("SELECT count(*) FROM documents").fetchone()[0]
            for row, document in enumerate(documents, first):
                item = items.setdefault(_content(document.fields, features), len(items))
                values = row, item, document.id, document.fields_as_json
                self._db.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", values)
                if document.label is not None:
                    self._add(Label(item, document.label, IN_FILE, now, IMPORT))
            self._save_project(project(len(items)))
        return len(items)

    def add(self, label: Label) -> None:
        with self.lock, transaction(self._db, to_disk=True):
            self._add(label)

    def _add(self, label: Label) -> None:
        self._db.execute(
            "INSERT INTO labels (item, label, annotator, time, purpose) VALUES (?, ?, ?, ?, ?)",
            (label.item, label.label, label.annotator, label.time, label.purpose),
        )

    def labels(self, item: int | None = None) -> list[Label]:
        """All entries in their order, those that are no longer in force included; or those of one item."""
        which, values = ("", ()) if item is None else ("WHERE item = ?", (item,))
        with self.lock, reading(self._journal.path):
            found = self._db.execute(
                f"SELECT item, label, annotator, time, purpose FROM labels {which} ORDER BY id", values
            )
            return [Label(*row) for row in found]

    def document(self, item: int) -> Document:
        """The first of the equal documents."""
        with reading(self._journal.path):
            with self._read_lock:  # nobody waits until the disk has what another one said
                row = self._reading.execute(
                    "SELECT id, fields FROM documents WHERE item = ? ORDER BY row LIMIT 1", (item,)
                ).fetchone()
            return Document(row[0], json.loads(row[1]))

    def documents(self) -> Iterator[tuple[int, Document]]:
        """Every document in the order of the files, with its item."""
        with closing(self._journal.file.connect()) as db, reading(self._journal.path):
            for item, name, fields in db.execute("SELECT item, id, fields FROM documents ORDER BY row"):
                yield item, Document(name, json.loads(fields))

    def item_fields(self, most: int) -> Iterator[list[str]]:
        """The fields of every item as JSON, so many at a time."""
        with reading(self._journal.path):
            found = self._db.execute(_FIRST_FIELDS)
            while lines := found.fetchmany(most):
                yield [line for (line,) in lines]

    def count(self) -> int:
        with self.lock:
            return int(self._db.execute("SELECT count(*) FROM documents").fetchone()[0])

    def count_items(self) -> int:
        with self.lock:
            return int(self._db.execute("SELECT coalesce(max(item) + 1, 0) FROM documents").fetchone()[0])

    def search(self, text: str, most: int) -> list[int]:
        """The items that have this text in a field, regardless of the case of ASCII letters."""
        pattern = json.dumps(text, ensure_ascii=False)[1:-1]
        for special in "\\%_":
            pattern = pattern.replace(special, "\\" + special)
        with self._search_lock:  # it may take long, and nobody's answer waits for it
            found = self._searching.execute(
                "SELECT DISTINCT item FROM documents WHERE fields LIKE ? ESCAPE '\\' LIMIT ?",
                (f"%{pattern}%", most),
            ).fetchall()
        return [item for (item,) in found]

    def add_estimate(self, answers: int, estimate: dict[str, Any]) -> None:
        with self.lock, transaction(self._db, to_disk=False):
            values = answers, json.dumps(estimate)
            self._db.execute("INSERT OR REPLACE INTO estimates VALUES (?, ?)", values)

    def estimates(self) -> list[dict[str, Any]]:
        with reading(self._journal.path):
            found = self._db.execute("SELECT answers, estimate FROM estimates ORDER BY answers")
            return [{"answers": answers} | json.loads(estimate) for answers, estimate in found]


def _content(fields: dict[str, Any], features: Sequence[str]) -> str:
    return json.dumps([fields.get(name) for name in features], ensure_ascii=False, default=str)


def in_force(labels: Iterable[Label]) -> dict[int, dict[str, Label]]:
    """Of each item and annotator the last entry, in the order of their first ones."""
    found: dict[int, dict[str, Label]] = {}
    for each in labels:
        if each.purpose == WITHDRAWN:
            found.get(each.item, {}).pop(each.annotator, None)
        else:
            found.setdefault(each.item, {})[each.annotator] = each
    return {item: own for item, own in found.items() if own}


def settled(own: Said) -> str | None:
    """The label that counts: what most people say; in a tie, the first answer. None if all skipped."""
    said = [label for label in own.values() if label is not None]
    return max(said, key=said.count) if said else None
