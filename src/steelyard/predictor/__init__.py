"""`Predictor`: predictions without compiled code. It needs NumPy and nothing else, and starts at once.

`steelyard export spam.model -o spam.json` writes what it reads. It is for services that answer few rows and
start often, and for machines without Numba; `steelyard predict` scores files of many rows much faster.

    from steelyard.predictor import Predictor

    predictor = Predictor.load("spam.json")
    predictor.predict_proba([{"text": "Free prize!"}])
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard import losses
from steelyard.predictor import schema
from steelyard.predictor.schema import FORMAT
from steelyard.predictor.tokens import Tokeniser, key, murmur
from steelyard.token_rules import ASCII, bytes_in

__all__ = ["FORMAT", "Predictor"]

_LARGEST_LOG_ODDS = 1e100  # as in `scoring.probabilities`
_LARGEST = {"float32": 1e17, "float64": 1e150}
_BLANKS, _MISSING = bytes_in(ASCII.blanks).decode(), ASCII.missing.encode()
Row = Mapping[str, Any]
Matrix = NDArray[np.float64]


class Predictor:
    """A model that was exported as JSON.

    Parameters
    ----------
    content : dict
        What `steelyard export` has written.

    Attributes
    ----------
    classes : list of str or None
        The names of the classes; None where numbers are predicted.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        schema.check(content)
        self.classes: list[str] | None = content["classes"]
        self._matrix = content["kind"] == "matrix"
        self._dtype = np.dtype(content["dtype"])
        self._mask = content["features"] - 1
        self._features = content["features"]
        self._loss = losses.by_name(content["loss"]["name"], **content["loss"]["parameters"])
        # JSON has whole numbers of any size, of which NumPy would make objects
        self._calibration = [[*map(float, each), 0.0][:3] for each in content["calibration"] or ()]
        self._biases = [float(model["bias"]) for model in content["models"]]
        self._weights = np.zeros((len(self._biases), self._features), self._dtype)
        for weights, model in zip(self._weights, content["models"], strict=True):
            weights[np.array(model["indices"], np.int64)] = np.array(model["weights"], self._dtype)
        if not self._matrix:
            self._columns = [
                (each["name"].encode(), each["name"], each["role"]) for each in content["columns"]
            ]
            self._seeds = {name: murmur(text, 0) for text, name, _ in self._columns}
            self._texts = [name for _, name, role in self._columns if role == "text"]
            self._missing = {word.lower() for word in content["missing"]}
            self._tokeniser = Tokeniser(**content["text"])

    @classmethod
    def load(cls, path: str | Path) -> "Predictor":
        """Read what `steelyard export` has written."""
        try:
            content = json.loads(Path(path).read_bytes())
        except (ValueError, RecursionError):
            raise ValueError(f"{path}: is no JSON; steelyard export MODEL -o FILE.json writes it") from None
        try:
            return cls(content)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def decision_function(self, rows: Sequence[Row | str] | ArrayLike) -> Matrix:
        """The raw prediction w·x of each row; with more than two classes, one for each class.

        Rows of a table are objects by the names of its columns; where there is one text and nothing else,
        just the text. Of a model that learned a matrix, they are a matrix.
        """
        if self._matrix:
            x = np.asarray(rows, self._dtype)
            if x.ndim != 2 or x.shape[1] != self._features:
                raise ValueError(f"a matrix of {self._features} columns is expected; got the shape {x.shape}")
            found = np.stack([(weights * x).sum(axis=1, dtype=np.float64) for weights in self._weights], 1)
            found += np.array(self._biases)
        else:
            if isinstance(rows, str | Mapping):
                raise ValueError("rows come in a list, a single one too: [row]")
            found = np.array([self._predict_row(row) for row in rows]).reshape(-1, len(self._biases))  # type: ignore[union-attr,arg-type]
        return found[:, 0] if found.shape[1] == 1 else found

    def predict(self, rows: Sequence[Row | str] | ArrayLike) -> list[str] | Matrix:
        """The class of each row, or its number."""
        raw = self.decision_function(rows)
        if self.classes is None:
            return raw
        codes = raw.argmax(axis=1) if raw.ndim == 2 else (raw > losses.decision_point(self._loss)).astype(int)
        return [self.classes[code] for code in codes.tolist()]

    def predict_proba(self, rows: Sequence[Row | str] | ArrayLike) -> Matrix:
        """The probability of each class, a column for each."""
        if self.classes is None:
            raise ValueError("the model predicts numbers, and has no probabilities")
        raw = self.decision_function(rows)
        if raw.ndim == 1:
            positive = self._positive(raw, 0)
            negative = 1.0 - positive if self._calibration else self._of_label(raw, 0)
            return np.column_stack((negative, positive))
        chances = np.column_stack([self._positive(column, k) for k, column in enumerate(raw.T)])
        none = ~chances.any(axis=1)
        chances[none, raw[none].argmax(axis=1)] = 1.0
        shares: Matrix = chances / chances.sum(axis=1, keepdims=True)
        return shares

    def _positive(self, raw: Matrix, number: int) -> Matrix:
        if not self._calibration:
            return self._of_label(raw, 1)
        slope, shift, bend = self._calibration[number]
        margins = slope * raw + shift
        if bend > 0.0:
            margins = np.clip(margins, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
            margins = margins / (1.0 + bend * np.abs(margins))
        small = np.exp(-np.abs(margins))
        chances: Matrix = np.where(margins > 0.0, small, 1.0) / (1.0 + small)
        return chances

    def _of_label(self, raw: Matrix, which: int) -> Matrix:
        label = losses.class_labels(self._loss)[which]
        return np.array([self._loss.probability(each, label) for each in raw.tolist()])

    def _predict_row(self, row: Row | str) -> list[float]:
        if isinstance(row, str):
            if len(self._texts) != 1:
                raise ValueError("a row is an object by the names of its columns")
            row = {self._texts[0]: row}
        if not isinstance(row, Mapping):
            raise TypeError(f"a row is an object by the names of its columns, or a text; got {row!r}")
        merged: dict[int, Any] = {}
        value = self._dtype.type
        for index, x in self._features_of(row):
            at = index & self._mask
            merged[at] = merged[at] + value(x) if at in merged else value(x)
        indices = np.fromiter(merged, np.int64, len(merged))
        values = np.array(list(merged.values()), self._dtype)
        offset = self._offset(row)
        return [
            math.fsum((weights[indices] * values).tolist()) + bias + offset
            for weights, bias in zip(self._weights, self._biases, strict=True)
        ]

    def _features_of(self, row: Row) -> list[tuple[int, float]]:
        """Numbers and categories in the order of their columns, then texts."""
        found: list[tuple[int, float]] = []
        for _, name, role in self._columns:
            if name not in row or role not in ("number", "category"):
                continue
            seed, cell = self._seeds[name], row[name]
            if isinstance(cell, Mapping | list | tuple):
                raise ValueError(f"{name!r} is nested, which a predictor does not read")  # noqa: TRY004
            text = _text(cell).strip(_BLANKS)
            if not text:
                found.append((murmur(_MISSING, seed), 1.0))
            elif role == "category":
                found.append((key(_utf8(text), seed), 1.0))
            elif isinstance(cell, bool | np.bool_):
                found.append((seed, float(cell)))
            else:
                number = self._number(name, text)
                found.append((murmur(_MISSING, seed), 1.0) if number is None else (seed, number))
        for name in self._texts:
            cell = row.get(name)
            if cell is not None:
                found += self._tokeniser.features(_utf8(_text(cell)), self._seeds[name])
        return found

    def _number(self, name: str, text: str) -> float | None:
        """The number in a cell; None if it is missing."""
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if math.isfinite(number) and "_" not in text:
            if abs(number) > _LARGEST[self._dtype.name]:
                raise ValueError(f"{name!r} is {text}: so large that its square overflows")
            return number
        if text.lower() in self._missing:
            return None
        raise ValueError(f"{name!r} is {text!r}, which is not a number")

    def _offset(self, row: Row) -> float:
        for _, name, role in self._columns:
            if role == "base" and row.get(name) not in (None, ""):
                return float(row[name])
        return 0.0


def _utf8(text: str) -> bytes:
    """The text as readers of files have it: half of a pair of surrogates is the replacement character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _text(cell: Any) -> str:
    """A cell as JSON writes it."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    return cell if isinstance(cell, str) else str(cell)
