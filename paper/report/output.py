"""The files of a report. What an earlier one wrote and this one does not, goes: a folder tells one story."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from paper.store import write

_LIST = "report-files.json"


@dataclass
class Output:
    """The folder, and what was written there, by its name within the folder."""

    folder: Path
    written: list[str] = field(default_factory=list)

    def path(self, name: str) -> Path:
        """Of a file to be written."""
        self.written.append(name)
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self, name: str, text: str) -> Path:
        path = self.path(name)
        write(path, text)
        return path

    def finish(self) -> None:
        """Only what is in the earlier list is removed, nothing else that may lie here."""
        for name in self._earlier() - set(self.written):
            (self.folder / name).unlink(missing_ok=True)
        write(self.folder / _LIST, json.dumps(sorted(set(self.written)), indent=1))

    def _earlier(self) -> set[str]:
        try:
            return {str(name) for name in json.loads((self.folder / _LIST).read_text(encoding="utf-8"))}
        except (OSError, ValueError, TypeError):
            return set()
