"""Predict texts, dicts by column name, and frames, with estimators that have learned files.

They are read as a file with these rows would be: lists as JSON lines, frames as Arrow tables.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.protocol import Predicts
from steelyard.examples import Examples
from steelyard.io import columns as roles
from steelyard.io import compatibility, memory
from steelyard.io.blocks import Block
from steelyard.io.columns import Columns
from steelyard.io.input_spec import InputSpec
from steelyard.scoring.predicting import accept_any_labels

_TOGETHER = 4096  # rows of a list that are read at a time


def are_named(X: Any) -> bool:
    """Return whether these are rows for a reader: texts, dicts, or a frame; everything else is a matrix."""
    if isinstance(X, str | Mapping) or hasattr(X, "columns"):
        return True
    if len(getattr(X, "shape", (0,))) != 1:  # lists have no shape
        return False
    try:
        return isinstance(next(iter(X), ""), str | Mapping)
    except TypeError:  # no rows at all, whatever it is
        return False


def predict(engine: Predicts, spec: InputSpec, X: Any) -> NDArray[np.float64]:
    """Return w·x of each row, bit for bit as for a file with these rows."""
    if isinstance(X, str | Mapping):
        raise ValueError("rows come in a list, a single one too: [row]")  # noqa: TRY004 - as for a matrix
    table = _as_table(spec)
    assert table.columns is not None
    chunks = _of_frame(table, X) if hasattr(X, "columns") else _of_list(table, table.columns, X)
    reader = table.reader()
    parts = [engine.predict(reader.parse(reader.nothing()).examples)]  # no rows, of the right width
    return np.concatenate([*parts, *map(engine.predict, chunks)])


def _as_table(spec: InputSpec) -> InputSpec:
    """Return how JSON lines with the columns of the model are read."""
    named = compatibility.spec_of_names(spec)
    if named is None or named.columns is None:
        learned = "sparse rows without names" if named is None else named.format
        raise ValueError(
            f"the model has learned {learned}, not a table with named columns: use predict_files, or give a "
            "matrix of numbers"
        )
    lines = replace(named, format="jsonl", dialect=None, encoding=None)
    return accept_any_labels(lines)


def _of_frame(spec: InputSpec, frame: Any) -> Iterator[Examples]:
    assert spec.columns is not None
    roles.require(spec.columns.features, map(str, frame.columns), "the frame")
    known = [name for name in frame.columns if name in spec.columns.names]
    return memory.chunks(
        frame[known], columns=spec.columns, label_rule=spec.label_rule, text_options=spec.text,
        interactions=spec.interactions, bits=spec.bits, dtype=spec.dtype,
    )  # fmt: skip


def _of_list(spec: InputSpec, columns: Columns, rows: Sequence[Any]) -> Iterator[Examples]:
    reader = spec.reader()
    numbered = enumerate(rows)
    while some := list(islice(numbered, _TOGETHER)):
        lines = "".join(_line(columns, number, row) + "\n" for number, row in some).encode()
        parsed = reader.parse(Block("rows", np.frombuffer(lines, np.uint8), len(lines)))
        for note in parsed.notes[:1]:
            raise ValueError(f"row {some[note.line][0]}: {note.what}")
        yield parsed.examples


def _line(columns: Columns, number: int, row: Any) -> str:
    """Return the row as a line of JSON, with the columns that predictions need."""
    wanted = *columns.features, *columns.with_role(roles.BASE)
    listed = ", ".join(columns.features)
    if isinstance(row, str):
        if columns.features != columns.with_role(roles.TEXT) or len(columns.features) != 1:
            raise ValueError(
                f"row {number} is a text, and the model takes the columns {listed}: give each row as a dict "
                "with these names, or all of them as a frame"
            )
        row = {columns.features[0]: row}
    if not isinstance(row, Mapping):
        raise ValueError(f"row {number} is {row!r}, neither a text nor a dict by the names of columns")  # noqa: TRY004
    if not any(name in row for name in columns.features):
        raise ValueError(f"row {number} has none of the columns of the model: {listed}")
    return json.dumps({name: row[name] for name in wanted if name in row}, default=_plain)


def _plain(value: Any) -> Any:
    """Convert NumPy's numbers and arrays to values that JSON can hold; everything else to text."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
