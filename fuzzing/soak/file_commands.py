"""Commands that write files: ended at random moments, in folders that are full or closed, and two at once.

They are run again as a person would, and must end with the bytes of a run that nobody disturbed. Whatever
happens, no temporary file stays behind, unless the process had no time to remove it; the next one does.
"""

import functools
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from signal import SIGKILL, Signals
from typing import Any

from fuzzing.commands import must
from fuzzing.soak import circumstances
from fuzzing.soak.processes import start

Arguments = Callable[[Path], list[Any]]


@dataclass
class FileCommand:
    """A command in a folder that `prepare` fills; how it is gone on with, and what it writes."""

    command: Arguments
    again: Arguments
    rival: Arguments
    """A command that writes other content to the same files, or the same if they are several."""
    prepare: Callable[[Path], object] = lambda folder: None
    ignored: tuple[str, ...] = ()
    """Files that differ from run to run."""
    _took: float = 0.0
    _expected: dict[str, bytes] = field(default_factory=dict)
    _rival: dict[str, bytes] = field(default_factory=dict)

    def begin(self, folder: Path) -> None:
        """Run it undisturbed: here, so that everything is loaded; then in forks, one of which is timed."""
        must(*self.command(self._empty(folder / "loaded")))
        self._rival = self._undisturbed(folder / "rival", self.rival)
        began = time.monotonic()
        self._expected = self._undisturbed(folder / "whole", self.command)
        self._took = time.monotonic() - began

    def kill(self, folder: Path, chance: Random, next_signal: Callable[[], Signals]) -> None:
        place, command = self._empty(folder / "run"), self.command
        for _ in range(chance.choice([1, 1, 2, 3])):
            child = start(command(place))
            time.sleep(chance.uniform(0.0, self._took))
            child.kill(which := next_signal())
            if child.wait_after(which) and which is not SIGKILL:
                assert_no_rest(place, f"*.{child.number}.tmp")  # of others that were killed there may be some
            command = self.again
        if self._content(place) != self._expected:
            self._succeed(self.again(place))
        self._assert_content(place, self._expected)

    def trials(self, folder: Path) -> circumstances.Trials:
        found: circumstances.Trials = {
            "full disk": self._full_disk, "two writers": self._two_writers, "clock back": self._clock_back,
        }  # fmt: skip
        return found | ({"read-only": self._read_only} if circumstances.can_be_bound(folder) else {})

    def _full_disk(self, folder: Path, chance: Random) -> None:
        """It says so, and leaves no temporary file."""
        place = self._empty(folder / "full")
        limit = chance.randrange(max(map(len, self._expected.values())))
        child = start(self.command(place), before=functools.partial(circumstances.full_disk, limit))
        code = child.wait()
        assert code in (0, 1), (code, child.said())
        assert code == 0 or "Error: " in child.said(), child.said()
        assert_no_rest(place)

    def _read_only(self, folder: Path, chance: Random) -> None:
        """It says so, and nothing is there or changed."""
        place = self._empty(folder / "closed")
        before = self._content(place)
        place.chmod(0o555)
        child = start(self.command(place), before=circumstances.unprivileged)
        code = child.wait()
        place.chmod(0o755)
        assert code == 1, (code, child.said())
        assert "Error: " in child.said(), child.said()
        assert str(place) in child.said(), child.said()
        assert self._content(place) == before

    def _two_writers(self, folder: Path, chance: Random) -> None:
        """The files are those of one of the two, whole; or one of the two is refused."""
        place = self._empty(folder / "two")
        first = start(self.command(place))
        time.sleep(chance.uniform(0.0, self._took))
        second = start(self.rival(place))
        codes = first.wait(), second.wait()
        assert 0 in codes, (codes, first.said(), second.said())
        assert set(codes) <= {0, 1}, (codes, first.said(), second.said())
        if self._content(place) != self._rival:
            self._assert_content(place, self._expected)

    def _clock_back(self, folder: Path, chance: Random) -> None:
        place = self._empty(folder / "back")
        child = start(self.command(place), before=circumstances.clock_going_back)
        assert child.wait() == 0, child.said()
        self._assert_content(place, self._expected)

    def _empty(self, place: Path) -> Path:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        self.prepare(place)
        return place

    def _undisturbed(self, place: Path, command: Arguments) -> dict[str, bytes]:
        self._succeed(command(self._empty(place)))
        return self._content(place)

    def _succeed(self, arguments: list[Any]) -> None:
        child = start(arguments)
        code = child.wait()
        assert code == 0, (code, child.said())

    def _content(self, folder: Path) -> dict[str, bytes]:
        files = (Path(root, name) for root, _, names in os.walk(folder) for name in names)
        found = {path.relative_to(folder).as_posix(): path for path in files}
        return {
            name: path.read_bytes()
            for name, path in found.items()
            if not any(part in name for part in self.ignored)
        }

    def _assert_content(self, place: Path, expected: dict[str, bytes]) -> None:
        found = self._content(place)
        assert found == expected, sorted(found.keys() ^ expected.keys()) or [
            name for name in found if found[name] != expected[name]
        ]


def assert_no_rest(folder: Path, pattern: str = "*.tmp") -> None:
    rest = [path.name for path in folder.rglob(pattern)]
    assert not rest, rest
