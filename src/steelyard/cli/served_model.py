"""`ServedModel`: a model that answers lines with JSON, and is loaded anew when its file is replaced."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.cli import scoring
from steelyard.cli.common import tell
from steelyard.cli.wording import error_text, in_options
from steelyard.engine import probabilities
from steelyard.engine.file_predictions import predict_lines
from steelyard.engine.loaded_model import LoadedModel
from steelyard.io.absent_columns import JSON_LINES, AbsentColumns
from steelyard.io.blocks import Block, LineReader

PART = 1 << 18  # bytes of a request that are answered at once


class _Version:
    """The model as one file has it."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._engine, self._loss, self._names = loaded.engine, loaded.loss, loaded.class_names
        self._calibration = loaded.content.calibration
        self._probabilities = self._names is not None and (
            self._calibration is not None or probabilities.has_probabilities(loaded.loss)
        )
        self.spec = scoring.spec_of_lines(loaded)
        reader = self.spec.reader()
        assert isinstance(reader, LineReader)
        self._reader = reader
        self._absent = AbsentColumns(self.spec, tell)
        self.columns = self._absent.columns

    def answer(self, text: bytes, before: int = 0) -> Iterator[dict[str, Any]]:
        """An object for each of these whole lines, which come after so many others; a blank line has none."""
        block = Block("request", np.frombuffer(text, np.uint8), len(text))
        found = predict_lines(self._reader, self._engine, block)
        answers, tags = list(self._objects(found.predictions)), scoring.tags(found.parsed)
        for number, (line, row) in enumerate(zip(found.lines, found.rows, strict=True), before + 1):
            missing = self._absent.of(line) if isinstance(row, int) else []
            wrong = self._absent.has_none(missing) if isinstance(row, int) else row
            if wrong is not None:
                yield {"error": in_options(wrong), "line": number}
            elif isinstance(row, int):
                if missing:
                    answers[row]["missing"] = missing
                tag = tags[row].decode("utf-8", "replace")
                yield answers[row] | ({"tag": tag} if tag else {})

    def _objects(self, predictions: NDArray[np.float64]) -> Iterator[dict[str, Any]]:
        raw = predictions.tolist()
        if self._names is None:
            yield from ({"prediction": each} for each in raw)
            return
        labels = [self._names[code] for code in probabilities.decide(self._loss, predictions).tolist()]
        chances = (
            probabilities.class_probabilities(self._loss, predictions, self._calibration).tolist()
            if self._probabilities
            else [None] * len(raw)
        )
        for label, chance, each in zip(labels, chances, raw, strict=True):
            found: dict[str, Any] = {"label": label}
            if chance is not None:
                found["probabilities"] = dict(zip(self._names, chance, strict=True))
            several = isinstance(each, list)
            found["prediction"] = dict(zip(self._names, each, strict=True)) if several else each
            yield found


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
