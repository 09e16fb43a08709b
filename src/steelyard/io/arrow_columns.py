"""Ordinary columns of Arrow tables: already typed, their roles in `Columns` or inferred here.

Numbers are integers, floats, decimals and booleans (0 and 1). Null and NaN are missing, like an empty
cell of a CSV. A category, text or tag that is not a string is taken as it is written: true, 7,
2024-05-01. Dates and times are not numbers; the user decides what number to make of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import LARGEST
from steelyard.features import HashedRows, Names
from steelyard.io import arrow_arrays
from steelyard.io import columns as roles
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.arrow_csr import ArrowBlock
from steelyard.io.blocks import ParsedBlock
from steelyard.io.column_inference import HEAD_RECORDS, infer_roles
from steelyard.io.columns import ColumnOverrides, Columns
from steelyard.io.errors import RowErrors
from steelyard.io.input_spec import InputSpec
from steelyard.io.tables import TableParser
from steelyard.text import cells, structs


class ArrowColumns:
    """Makes examples of the rows. A table may have its columns in another order, and further columns."""

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        self._table = TableParser(spec, names)
        columns = self._table.columns
        self._features = [place for place, name in enumerate(columns.names) if name in columns.features]

    def parse(self, batch: ArrowBlock) -> ParsedBlock:
        """The rows of a batch, without those that are wrong.

        Raises ValueError, or what pyarrow raises, for a table that cannot be read at all.
        """
        arrays, lines = _arrays(batch.rows, self._table.columns), batch.rows.num_rows
        found = _ColumnArrays.read(arrays, lines, self._table)
        errors = found.errors
        if errors:
            good = import_pyarrow(batch.path).array(errors.good_rows)
            kept = {name: array.take(good) for name, array in arrays.items()}
            found = _ColumnArrays.read(kept, len(good), self._table)
        return self._table.fold(
            batch, self._hashed(found), found.text, lines=lines, notes=errors.first(batch.described),
            skipped=len(errors), remarks=_remarks(batch.rows, self._table.columns),
        )  # fmt: skip

    def _hashed(self, found: "_ColumnArrays") -> HashedRows:
        rows, columns = len(found.labels), np.array(self._features, np.int64)
        hashed, scratch = self._table.hashed(rows, rows * len(columns), len(found.text))
        plan, _, options, _ = self._table.arguments
        kinds, seeds, fields = (array[columns] for array in plan[:3])
        names = self._table.columns.names
        places = np.array([found.places[names[column]] for column in self._features], np.int64)
        count = cells.rows_of_columns(
            found.text, found.spans, found.reals, structs.ColumnPlan(kinds, columns, places, seeds, fields),
            options, scratch, hashed.ends, hashed.distinct, hashed.features,
        )  # fmt: skip
        return replace(
            hashed.first(rows, count),
            labels=found.labels, sample_weight=found.sample_weight, offsets=found.offsets,
            tags=found.tags,
        )  # fmt: skip


@dataclass(frozen=True)
class _ColumnArrays:
    """A batch in the form that the kernel takes, and its errors."""

    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64]
    text: NDArray[np.uint8]
    """All strings, one column after another."""
    tags: NDArray[np.int32]
    spans: NDArray[np.int32]
    reals: NDArray[np.float64]
    places: dict[str, int]
    """The place of each feature column among the spans or the reals."""
    errors: RowErrors

    @classmethod
    def read(cls, given: Mapping[str, Any], count: int, table: TableParser) -> "_ColumnArrays":
        columns, errors = table.columns, RowErrors(count)
        labels, sample_weight, offsets = np.full(count, np.nan), np.ones(count), np.zeros(count)
        texts: list[tuple[NDArray[np.uint8], NDArray[np.int32]]] = []
        reals: list[NDArray[np.float64]] = []
        places: dict[str, int] = {}
        tags = np.zeros((count, 2), np.int32)
        size = 0
        for column in columns.columns:
            if column.name not in given or column.role == roles.IGNORE:
                continue
            array = given[column.name]
            if column.role == roles.LABEL:
                labels = arrow_arrays.read_labels(array, table.label_rule, columns.missing, errors)
            elif column.role in (roles.WEIGHT, roles.BASE, roles.NUMBER):
                numbers = arrow_arrays.read_numbers(array, column.name, columns.missing, errors)
                if column.role == roles.WEIGHT:
                    sample_weight = numbers
                    errors.add_weights(sample_weight)
                elif column.role == roles.BASE:
                    offsets = np.where(np.isnan(numbers), 0.0, numbers)
                    errors.add_offsets(offsets)
                else:
                    _add_too_large(errors, numbers, column.name, LARGEST[table.dtype])
                    places[column.name] = len(reals)
                    reals.append(numbers)
            else:
                found = arrow_arrays.read_texts(array)
                text, spans = found.text, found.spans
                if column.role == roles.TEXT:
                    text = np.empty(len(found.text) + count, np.uint8)
                    cells.separate(found.text, spans, text)
                spans += np.int32(size)
                size += len(text)
                if size > np.iinfo(np.int32).max:
                    raise ValueError("one chunk has more than 2 GB of text; write it in smaller batches")
                if column.role == roles.TAG:
                    tags = spans
                places[column.name] = len(texts)
                texts.append((text, spans))
        return cls(
            labels, sample_weight, offsets,
            np.concatenate([np.zeros(0, np.uint8), *(text for text, _ in texts)]),
            tags,
            np.array([spans for _, spans in texts], np.int32).reshape(len(texts), count, 2),
            np.array(reals, np.float64).reshape(len(reals), count),
            places, errors,
        )  # fmt: skip


def _arrays(table: Any, columns: Columns) -> dict[str, Any]:
    """The known columns, fully checked: their layout, and that texts are UTF-8."""
    names = table.schema.names
    roles.require([column.name for column in columns.columns if column.role in roles.FEATURES], names)
    found = {}
    for name in columns.names:
        if names.count(name) > 1:
            raise ValueError(f"two columns are called {name!r}: rename one of them")
        if name in names:
            array = table.column(name)
            array.validate(full=True)
            found[name] = arrow_arrays.decode(array)
    return found


def _add_too_large(errors: RowErrors, numbers: NDArray[np.float64], name: str, largest: float) -> None:
    with np.errstate(invalid="ignore"):
        bad = np.abs(numbers) > largest
    errors.add(
        bad,
        lambda row: (
            f"column {name!r}: {numbers[row]} is infinite, or so large that its square overflows; scale it"
        ),
    )


def _remarks(table: Any, columns: Columns) -> frozenset[str]:
    unknown = [name for name in table.schema.names if name not in columns.names]
    return frozenset([f"unknown columns are ignored: {', '.join(unknown)}"] if unknown else [])


def take_head(batches: Iterable[Any]) -> tuple[Any, Iterator[Any]]:
    """The first rows as one batch (None if there are none); and all batches, these included."""
    ahead, count = [], 0
    following = iter(batches)
    for batch in following:
        ahead.append(batch)
        count += batch.num_rows
        if count >= HEAD_RECORDS:
            break
    if not count:
        return None, iter(())
    pyarrow = import_pyarrow()
    first = pyarrow.Table.from_batches(ahead).slice(0, HEAD_RECORDS).combine_chunks()
    return first.to_batches()[0], chain(ahead, following)


def infer_columns(rows: Any, told: ColumnOverrides | None = None) -> Columns:
    """The roles of columns: by the rules for text tables, and by type. `rows` is a RecordBatch."""
    names = rows.schema.names
    written = [_as_text(column) for column in rows.columns]
    unusable = {
        name: (roles.IGNORE, why)
        for name, column in zip(names, rows.columns, strict=True)
        if (why := _unusable(column))
    }
    return infer_roles(names, list(zip(*written, strict=True)), told, unusable)


def head_labels(rows: Any, columns: Columns) -> list[str]:
    """The different labels in the first rows, as they are written, sorted."""
    return columns.present(
        label for name in columns.with_role(roles.LABEL) for label in distinct(rows.column(name))
    )


def distinct(array: Any) -> list[str | None]:
    """The different values of a column, as they are written."""
    return _as_text(arrow_arrays.decode(array).unique())


def _as_text(array: Any) -> list[str | None]:
    """The cells of a column as texts."""
    pyarrow = import_pyarrow()
    if _unusable(array):
        return [None] * len(array)
    array = arrow_arrays.decode(array)
    if pyarrow.types.is_floating(array.type):
        array = pyarrow.compute.if_else(pyarrow.compute.is_nan(array), None, array)
    return array.cast(pyarrow.string()).to_pylist()  # type: ignore[no-any-return]


def _unusable(array: Any) -> str:
    """Why a column cannot become features unless the user says how."""
    types = import_pyarrow().types
    if types.is_temporal(array.type):
        return "a date or time"
    if types.is_nested(array.type) or "binary" in str(array.type):
        return f"holds {array.type}"
    return ""
