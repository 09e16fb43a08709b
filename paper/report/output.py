"""The files of a report. Files of an earlier report that this one does not write are removed."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from paper.store import write_text

_LIST = "report-files.json"


@dataclass
class Output:
    """The folder, and the names within it of the files that were written."""

    folder: Path
    written: list[str] = field(default_factory=list)

    def new_path(self, name: str) -> Path:
        """The path of a file to be written."""
        self.written.append(name)
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_text(self, name: str, text: str) -> Path:
        path = self.new_path(name)
        write_text(path, text)
        return path

    def finish(self) -> None:
        """Remove what only an earlier report wrote, and nothing else that may lie here."""
        for name in self._earlier() - set(self.written):
            (self.folder / name).unlink(missing_ok=True)
        write_text(self.folder / _LIST, json.dumps(sorted(set(self.written)), indent=1))

    def _earlier(self) -> set[str]:
        try:
            return {str(name) for name in json.loads((self.folder / _LIST).read_text(encoding="utf-8"))}
        except (OSError, ValueError, TypeError):
            return set()
