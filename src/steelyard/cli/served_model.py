"""`ServedModel`: a model that answers lines with JSON, and is loaded anew when its file is replaced."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.cli import scoring
from steelyard.cli.common import tell
from steelyard.cli.wording import error_text, in_options
from steelyard.io.blocks import Block
from steelyard.scoring.answers import objects
from steelyard.scoring.line_scores import LineScores
from steelyard.scoring.loaded_model import LoadedModel
from steelyard.scoring.matching import JSON_LINES, spec_of_lines
from steelyard.scoring.predicting import accept_any_labels

PART = 1 << 18  # bytes of a request that are answered at once


class _Version:
    """The model as one file has it."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.spec = accept_any_labels(spec_of_lines(loaded.spec(), loaded.name))
        self._scores = LineScores(loaded, self.spec, tell)
        self.columns = self._scores.absent.columns

    def answer(self, text: bytes, before: int = 0) -> Iterator[dict[str, Any]]:
        """An object for each of these whole lines, which come after so many others; a blank line has none."""
        scored = self._scores.score(Block("request", np.frombuffer(text, np.uint8), len(text)))
        answers, tags = list(objects(scored.scores)), scored.parsed.tag_texts()
        for number, line in enumerate(scored.lines, before + 1):
            if line.problem is not None:
                yield {"error": in_options(line.problem), "line": number}
            elif line.row is not None:
                answer, tag = answers[line.row], tags[line.row].decode("utf-8", "replace")
                missing = {"missing": list(line.missing)} if line.missing else {}
                yield answer | missing | ({"tag": tag} if tag else {})


class ServedModel:
    """The newest version of a model file. A replacement that cannot be read is told, and not used."""

    def __init__(self, path: Path, loss: str | None, tell: Callable[[str], None]) -> None:
        self.path = path
        self._loss, self._tell = loss, tell
        self._lock = threading.Lock()
        self._seen = self._stamp()
        self._version = _Version(scoring.load(path, loss))
        self.loads = 1

    @property
    def format(self) -> str:
        return self._version.spec.format

    @property
    def columns(self) -> list[str]:
        """That the rows of a table should have."""
        return self._version.columns

    def warm_up(self) -> None:
        """Compile, or load, what a request needs."""
        list(
            self._version.answer(
                b"{}\n" if self.format == JSON_LINES else b"|\n" if self.format == "vw" else b"0\n"
            )
        )

    def answer(self, text: bytes) -> Iterator[bytes]:
        """JSON lines: the answers to these lines part by part, all by one version of the model."""
        version, start, before = self._current(), 0, 0
        text += b"" if text.endswith(b"\n") else b"\n"
        while start < len(text):
            end = text.index(b"\n", min(start + PART, len(text)) - 1) + 1
            part = text[start:end]
            found = (json.dumps(each, ensure_ascii=False) + "\n" for each in version.answer(part, before))
            yield "".join(found).encode()
            start, before = end, before + part.count(b"\n")

    def _current(self) -> _Version:
        """While one request has a replacement loaded, others are answered by the model before."""
        stamp = self._stamp()
        if stamp not in (None, self._seen) and self._lock.acquire(blocking=False):
            try:
                self._seen = stamp
                self._load()
            finally:
                self._lock.release()
        return self._version

    def _load(self) -> None:
        try:
            self._version = _Version(scoring.load(self.path, self._loss))
            self.loads += 1
            self._tell(f"{self.path} was replaced and reloaded")
        except (ValueError, OSError) as error:
            said = error_text(error)
            self._tell(f"{self.path} was replaced but cannot be used; the previous model stays: {said}")

    def _stamp(self) -> tuple[int, int, int] | None:
        """Which file it is; None while there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
