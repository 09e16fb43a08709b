"""Journals: SQLite files with damaged pages or made-up values, through `active ask` and `active export`."""

import json
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

from fuzzing.commands import tried
from fuzzing.text_pieces import VALUES, damage_json

_ASK = ("active", "ask", "--classes", "ham,spam", "--bits", 8, "--rate", 0.9)
_LINES = [
    line
    for number in range(12)
    for line in (
        {"example": {"text": "cheap offer" if number % 2 else "lunch today", "price": number}},
        {"id": number, "label": "spam" if number % 2 else "ham"},
    )
]
_MORE = b'{"status": true}\n{"example": {"text": "cheap"}}\n{"undo": true}\n{"estimate": "error"}\n'


class Journals:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "bad.journal"
        text = "".join(json.dumps(line) + "\n" for line in _LINES).encode()
        assert tried(*_ASK, "--journal", self._path, stdin=text)
        with sqlite3.connect(self._path) as database:
            database.execute("PRAGMA journal_mode = DELETE")
        database.close()
        self._data = self._path.read_bytes()

    def draw(self, chance: Random) -> bytes:
        if chance.random() < 0.4:
            data = bytearray(self._data)
            for _ in range(chance.choice([1, 2, 8, 64])):
                data[chance.randrange(len(data))] = chance.choice([0, 255, 1, 127, chance.randrange(256)])
            return bytes(data[: chance.choice([len(data)] * 5 + [chance.randrange(len(data))])])
        return self._forged(chance)

    def _forged(self, chance: Random) -> bytes:
        database = sqlite3.connect(":memory:")
        database.deserialize(self._data)
        for _ in range(chance.choice([1, 1, 2])):
            table = chance.choice(["about", "decisions", "questions", "events"])
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            column = chance.choice(columns)
            value: Any = chance.choice(
                [each for each in VALUES if isinstance(each, float | str | None)] + [-1, 10**9]
            )
            if isinstance(value, str):
                value = value.encode("utf-8", "replace").decode()
            if table == "about":
                about = json.loads(database.execute("SELECT about FROM about").fetchone()[0])
                value = json.dumps(damage_json(about, chance))
            elif column in ("probabilities", "predictions", "flips", "indices", "values"):
                value = chance.choice([b"", b"1234567", b"\xff" * 16, b"\x7f" * 64, None, "text"])
            which = f"rowid = (SELECT rowid FROM {table} ORDER BY random() LIMIT 1)"
            try:
                database.execute(f'UPDATE {table} SET "{column}" = ? WHERE {which}', (value,))
            except (sqlite3.Error, OverflowError):  # SQLite itself says no
                continue
        return database.serialize()

    def check(self, data: bytes) -> int:
        for path in self._path.parent.glob("bad.journal*"):
            path.unlink()
        self._path.write_bytes(data)
        tried(*_ASK, "--journal", self._path, stdin=_MORE)
        return 1


TARGETS = {"journals": Journals}
