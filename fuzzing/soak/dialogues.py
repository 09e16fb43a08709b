"""Commands that talk: they are ended in the middle of a conversation, and gone on with.

What a reply confirmed is in the journal whatever comes. Somebody who goes on ends with the journal, or the
certificate, of a conversation that nobody disturbed.
"""

import contextlib
import itertools
import json
import os
import shutil
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from signal import Signals
from typing import IO, Any

from fuzzing.commands import tried
from fuzzing.soak import circumstances
from fuzzing.soak.processes import Child, start
from tests.filtering.corpus import rows

_ROWS = [{"text": each["text"], "language": each["language"]} for each in rows(60, 5)]
_LABELS = [each["quality"] for each in rows(60, 5)]
_ASK = ["active", "ask", "--classes", "bad,good", "--bits", 10, "--rate", 0.6]


@dataclass
class Talk:
    """A process, what it is told and what it says."""

    child: Child
    into: IO[str]
    out: IO[str]

    @classmethod
    def begin(cls, arguments: list[Any], before: Callable[[], object] = lambda: None) -> "Talk":
        (its_in, into), (out, its_out) = os.pipe(), os.pipe()

        def alone() -> None:
            os.close(into)  # of a pipe that it holds itself it would not see the end
            before()

        child = start(arguments, stdin=its_in, stdout=its_out, before=alone)
        os.close(its_in)
        os.close(its_out)
        return cls(child, os.fdopen(into, "w", buffering=1), os.fdopen(out))

    def say(self, line: dict[str, Any]) -> bool:
        """Whether it could be said: nobody listens once the process has ended."""
        try:
            self.into.write(json.dumps(line) + "\n")
        except BrokenPipeError:
            return False
        return True

    def hear(self) -> dict[str, Any] | None:
        """Its next line; None if that is not whole."""
        line = self.out.readline()
        return json.loads(line) if line.endswith("\n") else None

    def close(self) -> None:
        """Say that this was all, and hear the rest."""
        with contextlib.suppress(BrokenPipeError):
            self.into.close()
        with self.out:
            self.out.read()


class Dialogue(ABC):
    """The same conversation again and again, until the file that it is about is complete."""

    _expected: Any = None
    _lines = 0
    """What a whole conversation takes."""

    @abstractmethod
    def arguments(self, place: Path) -> list[Any]: ...

    @abstractmethod
    def converse(self, talk: Talk, said: Callable[[], None]) -> None:
        """Say all that is to be said, unless the process ends; `said` is called after each line."""

    @abstractmethod
    def outcome(self, place: Path) -> Any: ...

    @abstractmethod
    def prepare(self, place: Path) -> None:
        """Put there what has to be there."""

    def begin(self, folder: Path) -> None:
        self.load(self._empty(folder / "loaded"))
        self._lines = self._finish(self._empty(folder / "whole"))
        self._expected = self.outcome(folder / "whole")

    @abstractmethod
    def load(self, place: Path) -> None:
        """Run some of it in this process, so that everything is loaded."""

    def kill(self, folder: Path, chance: Random, next_signal: Callable[[], Signals]) -> None:
        place = self._empty(folder / "run")
        for _ in range(chance.choice([1, 2, 3])):
            self._converse_until(next_signal(), place, chance)
        self._finish(place)
        assert self.outcome(place) == self._expected

    def _converse_until(self, which: Signals, place: Path, chance: Random) -> None:
        talk = Talk.begin(self.arguments(place))
        left = itertools.count(chance.randrange(self._lines), -1)

        def said() -> None:
            if next(left) == 0:
                time.sleep(chance.uniform(0.0, 0.004))
                talk.child.kill(which)

        said()
        self.converse(talk, said)
        talk.close()
        talk.child.wait_after(which)

    def trials(self, folder: Path) -> circumstances.Trials:
        found: circumstances.Trials = {
            "full disk": self._full_disk,
            "two writers": self._two_writers,
            "clock back": self._clock_back,
        }
        return found | ({"read-only": self._read_only} if circumstances.can_be_bound(folder) else {})

    def _full_disk(self, folder: Path, chance: Random) -> None:
        """It ends with a message; with room again, it goes on."""
        place = self._empty(folder / "full")
        limit = chance.randrange(100_000)
        talk = Talk.begin(self.arguments(place), lambda: circumstances.full_disk(limit))
        self.converse(talk, lambda: None)
        talk.close()
        code = talk.child.wait()
        assert code in (0, 1), (code, talk.child.said())
        assert code == 0 or "Error: " in talk.child.said(), talk.child.said()
        self._finish(place)
        assert self.outcome(place) == self._expected

    def _two_writers(self, folder: Path, chance: Random) -> None:
        """The second is refused while the first goes on."""
        place = self._empty(folder / "two")
        first = Talk.begin(self.arguments(place))
        assert first.hear() is not None, first.child.said()
        second = Talk.begin(self.arguments(place))
        second.close()
        assert second.child.wait() == 1
        assert "another process is using it" in second.child.said(), second.child.said()
        first.close()
        assert first.child.wait() == 0, first.child.said()
        self._finish(place)
        assert self.outcome(place) == self._expected

    def _clock_back(self, folder: Path, chance: Random) -> None:
        place = self._empty(folder / "back")
        self._finish(place, circumstances.clock_going_back)
        assert self.outcome(place) == self._expected

    def _read_only(self, folder: Path, chance: Random) -> None:
        place = self._empty(folder / "closed")
        place.chmod(0o555)
        talk = Talk.begin(self.arguments(place), circumstances.unprivileged)
        talk.close()
        code = talk.child.wait()
        place.chmod(0o755)
        assert code == 1, (code, talk.child.said())
        assert "Error: " in talk.child.said(), talk.child.said()

    def _finish(self, place: Path, before: Callable[[], object] = lambda: None) -> int:
        """Returns how many lines it took."""
        said: list[None] = []
        talk = Talk.begin(self.arguments(place), before)
        self.converse(talk, lambda: said.append(None))
        talk.close()
        assert talk.child.wait() == 0, talk.child.said()
        return len(said)

    def _empty(self, place: Path) -> Path:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        self.prepare(place)
        return place


@dataclass
class Ask(Dialogue):
    """Examples one after another; a question is answered before the next example comes."""

    _confirmed: dict[str, int] = field(default_factory=dict)

    def prepare(self, place: Path) -> None:
        self._confirmed = {}

    def arguments(self, place: Path) -> list[Any]:
        return [*_ASK, "--journal", place / "j"]

    def load(self, place: Path) -> None:
        lines = b"".join(json.dumps({"example": row}).encode() + b"\n" for row in _ROWS[:3])
        assert tried(*self.arguments(place), stdin=lines)

    def converse(self, talk: Talk, said: Callable[[], None]) -> None:
        state = talk.hear()
        if state is None:
            return
        for name, count in self._confirmed.items():
            assert state[name] >= count, (name, count, state)
        self._confirmed = {name: state[name] for name in ("seen", "answered")}
        if state["open"] and not self._answer(talk, state["seen"] - 1, said):
            return
        for number in range(self._confirmed["seen"], len(_ROWS)):
            reply = self._say(talk, {"example": _ROWS[number]}, said)
            if reply is None:
                return
            self._confirmed["seen"] += 1
            if reply["ask"] and not self._answer(talk, number, said):
                return

    def _answer(self, talk: Talk, number: int, said: Callable[[], None]) -> bool:
        reply = self._say(talk, {"id": number, "label": _LABELS[number]}, said)
        self._confirmed["answered"] += reply is not None
        return reply is not None

    @staticmethod
    def _say(talk: Talk, line: dict[str, Any], said: Callable[[], None]) -> dict[str, Any] | None:
        if not talk.say(line):
            return None
        said()
        reply = talk.hear()
        assert reply is None or "error" not in reply, reply
        return reply

    def outcome(self, place: Path) -> list[str]:
        """All of the journal. The model is a function of it."""
        with closing(sqlite3.connect(place / "j")) as database:
            return list(database.iterdump())


@dataclass
class Certify(Dialogue):
    """A certificate of the model that a journal has."""

    folder: Path

    def __post_init__(self) -> None:
        self._file, self._journal = self.folder / "certified.jsonl", self.folder / "asked.journal"
        self._file.write_text("".join(json.dumps(row) + "\n" for row in _ROWS))
        lines = []
        for number, row in enumerate(_ROWS[:30]):
            lines += [{"example": row}, {"id": number, "label": _LABELS[number]}]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        assert tried(*_ASK[:-1], 1.0, "--journal", self._journal, stdin=text.encode())

    def prepare(self, place: Path) -> None:
        shutil.copy(self._journal, place / "j")
        (place / "j").chmod(0o644)

    def arguments(self, place: Path) -> list[Any]:
        claim = ["--error", 0.3, "--certificate", place / "certificate.json"]
        return ["active", "certify", self._file, "--journal", place / "j", *claim]

    def load(self, place: Path) -> None:
        assert tried(*self.arguments(place), stdin=b"")

    def converse(self, talk: Talk, said: Callable[[], None]) -> None:
        while (question := talk.hear()) is not None and "row" in question:
            if not talk.say({"row": question["row"], "label": _LABELS[question["row"]]}):
                return
            said()

    def outcome(self, place: Path) -> tuple[bytes, ...]:
        return tuple((place / name).read_bytes() for name in ("certificate.json", "certificate.html"))
