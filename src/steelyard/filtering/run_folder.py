"""`RunFolder`: the folder of a filter's outputs, which are the state of the run.

    FOLDER/part-0.jsonl.gz              an output, renamed when it is whole: this input is done
    REJECTS/part-0.jsonl.gz             if rejects are written: renamed before the output; done means both
    FOLDER/.part-0.jsonl.gz.partial     one that is being written
    FOLDER/_steelyard/settings.json     what decides the outputs; runs of other settings are refused
    FOLDER/_steelyard/files/….json      the statistics of each output; of a partial one, how far it is
    FOLDER/_steelyard/summary.json      all of them merged

Names that begin with _ or . are passed over by the programs that read folders of data.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from steelyard import _atomic_files
from steelyard._file_lock import FileLock
from steelyard._parameters import Message, Parameter, joined
from steelyard.filtering.inputs import Input
from steelyard.io.errors import InputError

OWN = "_steelyard"
_CHECK = "sha256"
_NOT_GIVEN = ("format", "block", "models", "threshold")  # settings that are no parameters
Record = dict[str, Any]


def read_json(path: Path) -> Record | None:
    """The content of a file; None where there is none. What is not as `write_json` wrote it is refused."""
    try:
        found: Record = json.loads(path.read_bytes())
        sound = found.pop(_CHECK) == _checksum(found)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise InputError(f"{path}: is damaged; remove it, and its file is filtered again")
    return found


def write_json(path: Path, content: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = content | {_CHECK: _checksum(content)}
    with _atomic_files.replacing(path) as temporary:
        temporary.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _checksum(content: Record) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _change(name: str, before: Any, now: Any) -> Message:
    """How a setting differs from that of an earlier run."""
    if name == "skip_errors":
        return Message(Parameter(name, bool(before)), ", now ", Parameter(name, bool(now)))
    if name == "models":
        before, now = (
            ", ".join(f"{each} {digest[:8]}" for each, digest in of.items()) for of in (before, now)
        )
    parameter = Parameter("audit_size" if name == "audit" else name)
    return Message(name if name in _NOT_GIVEN else parameter, f": {_shown(before)}, now {_shown(now)}")


def _shown(value: Any) -> str:
    return "not given" if value is None else str(value)


class RunFolder:
    """A folder of outputs, and that of the rejects, if there is one."""

    def __init__(self, path: Path, rejects: Path | None = None) -> None:
        self.path = path
        self.places = [path] if rejects is None else [path, rejects]
        self.settings_path = path / OWN / "settings.json"

    def settings(self) -> Record | None:
        return read_json(self.settings_path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """While outputs are written: two processes would write to the same partial files."""
        foreign = self.path.is_dir() and any(each.name != OWN for each in self.path.iterdir())
        if foreign and not self.settings_path.exists():
            raise InputError(f"{self.path}: is not empty, and no folder of an earlier run; name another")
        self.settings_path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / OWN / "lock")
        if not lock.acquire():
            raise InputError(f"{self.path}: another process is writing to it; wait for its end")
        try:
            yield
        finally:
            lock.release()

    def agree(self, settings: Record) -> None:
        """Record the settings of a run that begins; refuse to go on with those of another."""
        before = self.settings()
        if before is None:
            write_json(self.settings_path, settings)
            return
        before = dict.fromkeys(settings) | before  # what earlier releases did not know was not set
        if settings == before | {"skip_errors": True}:  # what is done had no errors, so it is the same
            write_json(self.settings_path, settings)
            return
        differing = [name for name in settings if settings[name] != before[name]]
        if differing == ["skip_errors"]:
            raise InputError(
                f"{self.path}: was made with ", Parameter("skip_errors", True), ", and what could not be read is "
                "left out: repeat the run with it to go on, or name another folder",
            )  # fmt: skip
        if differing:
            changes = [_change(name, before[name], settings[name]) for name in differing]
            raise InputError(
                f"{self.path}: was made with other settings (", joined("; ", changes),
                "); name another folder, or remove it",
            )  # fmt: skip

    def forget_if_empty(self) -> None:
        """Forget a run that failed before it wrote anything: the next one may have other settings."""
        if all(each.name == OWN for each in self.path.iterdir()):
            self.settings_path.unlink()

    def record_path(self, name: str) -> Path:
        return self.path / OWN / "files" / f"{name}.json"

    def partial(self, name: str) -> Record | None:
        """How far an unfinished output is."""
        return read_json(self._partial_path(name))

    def save_partial(self, name: str, record: Record) -> None:
        write_json(self._partial_path(name), record)

    def finish(self, name: str, record: Record) -> None:
        """Called just before the output is renamed: an output that exists has its record."""
        write_json(self.record_path(name), record)

    def drop_partial(self, name: str) -> None:
        self._partial_path(name).unlink(missing_ok=True)

    def outputs(self, name: str) -> list[Path]:
        """The files that are written for an input: what is kept, then what is rejected."""
        return [place / name for place in self.places]

    def done(self, given: Input) -> bool:
        """Whether all outputs exist; an error if what is kept is of another input, or nobody's.

        Where only the rejects are missing, both are written again. What is kept stays until it is replaced
        by the same bytes.
        """
        name = given.name
        if not (self.path / name).exists():
            return False
        record = read_json(self.record_path(name))
        if record is None:
            raise InputError(f"{self.path / name} already exists, and is not from this run; move it away")
        if record["fingerprint"] != given.fingerprint:
            raise InputError(
                f"{self.path / name}: was made from a file that has changed since; remove it to filter again"
            )
        return self._whole(name)

    def records(self) -> Iterator[Record]:
        """The records of all finished outputs, in the order of their names."""
        folder = self.path / OWN / "files"
        for path in sorted(folder.rglob("*.json")):
            name = path.relative_to(folder).as_posix().removesuffix(".json")
            if self._whole(name) and (record := read_json(path)) is not None:
                yield record

    def _whole(self, name: str) -> bool:
        return all(path.exists() for path in self.outputs(name))

    def _partial_path(self, name: str) -> Path:
        return self.path / OWN / "partial" / f"{name}.json"
