"""`LabelStore`: documents and people's labels of them, in the file of the journal.

Equal documents are one *item*, which is asked about once. Labels are append-only: for each person and item the
last entry is in force. An entry is on disk before anyone is told so. The journal's own answers follow from
these entries: what a killed process had not passed on to the learner, the next one passes on.
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
from steelyard.active.identifiers import DocumentRow, Item
from steelyard.active.journal import Journal

LABEL, CERTIFY, IMPORT = "label", "certify", "import"
WITHDRAWN, RESTORED = "withdrawn", "restored"
"""A person takes back their last entry: they have no label any more, or again the one they had before it."""
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
    """One row of a file. `fields` are its columns, `label` is the label that the file has for it."""

    id: str
    fields: dict[str, Any]
    label: str | None = None


@dataclass(frozen=True, slots=True)  # there is one for every answer
class Label:
    """One entry: a person's label of an item; None is a skip."""

    item: Item
    label: str | None
    annotator: str
    time: float
    purpose: str = LABEL


LabelsByPerson = Mapping[str, str | None]
"""The labels of one item by the names of people, in the order of their first answers; None is a skip."""


class LabelStore:
    """Has its own connections to the journal's file; threads take turns by `lock`, which the journal shares."""

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
        """Move the latest entries from the -wal file beside it into the file, so that a copy is complete.

        It takes no lock, so that no answer waits for it. If the disk is full, the next call tries again.
        """
        with suppress(sqlite3.OperationalError):
            self._moving.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def project(self) -> dict[str, Any] | None:
        """The project's settings; None if the journal has no documents, such as one that Python code keeps."""
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
        """Add documents, all or none; returns the number of items.

        Documents are equal if their `features`, the fields that are shown and learned, are equal. `project`
        makes the project of so many items once they can be read; if it raises an error, nothing is added.
        """
        with self.lock, transaction(self._db, to_disk=True):
            count = self._insert_documents(documents, features, now)
            self._save_project(project(count))
        return count

    def _insert_documents(self, documents: Iterable[Document], features: Sequence[str], now: float) -> int:
        items: dict[str, Item] = {}
        with reading(self._journal.path):
            for (fields,) in self._db.execute(_FIRST_FIELDS):
                items[_content(json.loads(fields), features)] = Item(len(items))
        first = self._db.execute("SELECT count(*) FROM documents").fetchone()[0]
        for row, document in enumerate(documents, first):
            item = items.setdefault(_content(document.fields, features), Item(len(items)))
            self._insert(DocumentRow(row), item, document)
            if document.label is not None:
                self._add(Label(item, document.label, IN_FILE, now, IMPORT))
        return len(items)

    def _insert(self, row: DocumentRow, item: Item, document: Document) -> None:
        fields = json.dumps(document.fields, ensure_ascii=False, default=str)
        self._db.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", (row, item, document.id, fields))

    def add(self, label: Label) -> None:
        """Add an entry, which is on disk afterwards."""
        with self.lock, transaction(self._db, to_disk=True):
            self._add(label)

    def _add(self, label: Label) -> None:
        self._db.execute(
            "INSERT INTO labels (item, label, annotator, time, purpose) VALUES (?, ?, ?, ?, ?)",
            (label.item, label.label, label.annotator, label.time, label.purpose),
        )

    def labels(self) -> list[Label]:
        """All entries in their order, including those that are no longer in force."""
        with self.lock, reading(self._journal.path):
            entries = self._db.execute("SELECT item, label, annotator, time, purpose FROM labels ORDER BY id")
            return [Label(*entry) for entry in entries]

    def document(self, item: Item) -> Document:
        """The first of the equal documents."""
        with reading(self._journal.path):
            with self._read_lock:  # not `lock`: nobody waits until another person's label is on disk
                row = self._reading.execute(
                    "SELECT id, fields FROM documents WHERE item = ? ORDER BY row LIMIT 1", (item,)
                ).fetchone()
            return Document(row[0], json.loads(row[1]))

    def documents(self) -> Iterator[tuple[Item, Document]]:
        """Every document in the order of the files, with its item."""
        with closing(self._journal.file.connect()) as db, reading(self._journal.path):
            for item, name, fields in db.execute("SELECT item, id, fields FROM documents ORDER BY row"):
                yield Item(item), Document(name, json.loads(fields))

    def item_lines(self, most: int) -> Iterator[list[str]]:
        """The fields of every item as a line of JSON, so many at a time."""
        with reading(self._journal.path):
            stored = self._db.execute(_FIRST_FIELDS)
            while lines := stored.fetchmany(most):
                yield [line for (line,) in lines]

    def count(self) -> int:
        """The number of documents."""
        with self.lock:
            return int(self._db.execute("SELECT count(*) FROM documents").fetchone()[0])

    def count_items(self) -> int:
        with self.lock:
            return int(self._db.execute("SELECT coalesce(max(item) + 1, 0) FROM documents").fetchone()[0])

    def search(self, text: str, most: int) -> list[Item]:
        """Items with this text in a field, regardless of the case of ASCII letters."""
        pattern = json.dumps(text, ensure_ascii=False)[1:-1]
        for special in "\\%_":
            pattern = pattern.replace(special, "\\" + special)
        with self._search_lock:  # not `lock`: it may take long, and no answer waits for it
            rows = self._searching.execute(
                "SELECT DISTINCT item FROM documents WHERE fields LIKE ? ESCAPE '\\' LIMIT ?",
                (f"%{pattern}%", most),
            ).fetchall()
        return [Item(item) for (item,) in rows]

    def add_estimate(self, answers: int, estimate: dict[str, Any]) -> None:
        with self.lock, transaction(self._db, to_disk=False):
            values = answers, json.dumps(estimate)
            self._db.execute("INSERT OR REPLACE INTO estimates VALUES (?, ?)", values)

    def estimates(self) -> list[dict[str, Any]]:
        with reading(self._journal.path):
            rows = self._db.execute("SELECT answers, estimate FROM estimates ORDER BY answers")
            return [{"answers": answers} | json.loads(estimate) for answers, estimate in rows]


def _content(fields: dict[str, Any], features: Sequence[str]) -> str:
    return json.dumps([fields.get(name) for name in features], ensure_ascii=False, default=str)


def in_force(labels: Iterable[Label]) -> dict[Item, dict[str, Label]]:
    """The last entry of each annotator for each item, in the order of their first ones."""
    latest: dict[Item, dict[str, Label]] = {}
    for entry in labels:
        if entry.purpose == WITHDRAWN:
            latest.get(entry.item, {}).pop(entry.annotator, None)
        else:
            latest.setdefault(entry.item, {})[entry.annotator] = entry
    return {item: entries for item, entries in latest.items() if entries}


def majority_label(labels: LabelsByPerson) -> str | None:
    """The label that most people give; in a tie, the first answer. None if all skipped."""
    given = [label for label in labels.values() if label is not None]
    return max(given, key=given.count) if given else None
