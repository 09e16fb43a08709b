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
from steelyard.engine import probabilities
from steelyard.engine.file_predictions import predict_lines
from steelyard.engine.loaded_model import LoadedModel
from steelyard.io.absent_columns import JSON_LINES, AbsentColumns, lines_of
from steelyard.io.blocks import Block


class _Version:
    """The model as one file has it."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._engine, self._loss, self._names = loaded.engine, loaded.loss, loaded.class_names
        self._calibration = loaded.content.calibration
        self._probabilities = self._names is not None and (
            self._calibration is not None or probabilities.has_probabilities(loaded.loss)
        )
        self.spec = scoring.spec_of_lines(loaded)
        self._reader = self.spec.reader()
        self._absent = AbsentColumns(self.spec, tell)
        self.columns = self._absent.columns

    def answer(self, text: bytes) -> Iterator[dict[str, Any]]:
        """An object for each line; a blank line has none, but is counted."""
        line = 0
        text += b"" if text.endswith(b"\n") else b"\n"
        block = Block("request", np.frombuffer(text, np.uint8), len(text))
        for part in predict_lines(self._reader, self._engine, block):
            if part.parsed is None or part.predictions is None:
                line += 1
                if part.error is not None:
                    yield {"error": part.error, "line": line}
                continue
            answers = zip(self._objects(part.predictions), scoring.tags(part.parsed), strict=True)
            absent = self._absent.of(lines_of(part.parsed))
            for (found, tag), missing in zip(answers, absent, strict=True):
                line += 1
                if wrong := self._absent.has_none(missing):
                    yield {"error": wrong, "line": line}
                    continue
                if missing:
                    found["missing"] = missing
                yield found | ({"tag": tag.decode("utf-8", "replace")} if tag else {})

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
                b"{}" if self.format == JSON_LINES else b"|" if self.format == "vw" else b"0"
            )
        )

    def answer(self, text: bytes) -> bytes:
        """JSON lines: the answers to these lines, all by one version of the model."""
        lines = [json.dumps(found, ensure_ascii=False) for found in self._current().answer(text)]
        return "".join(line + "\n" for line in lines).encode()

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
            self._tell(f"{self.path} was replaced but cannot be used; the previous model stays: {error}")

    def _stamp(self) -> tuple[int, int, int] | None:
        """Which file it is; None while there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
