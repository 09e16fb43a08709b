"""Which column of an Arrow table is what: by the rules for text tables, and by its type."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from steelyard.io import buffers, extras
from steelyard.io import columns as roles
from steelyard.io.column_roles import ColumnOverrides, guess
from steelyard.io.columns import Column, Columns
from steelyard.io.tables import HEAD_RECORDS


def head(batches: Iterable[Any]) -> tuple[Any, Iterator[Any]]:
    """The first rows, however they come in batches (None if there are none); and all batches, these again."""
    ahead, count = [], 0
    following = iter(batches)
    for batch in following:
        ahead.append(batch)
        count += batch.num_rows
        if count >= HEAD_RECORDS:
            break
    if not count:
        return None, iter(())
    pyarrow = extras.pyarrow("a table")
    first = pyarrow.Table.from_batches(ahead).slice(0, HEAD_RECORDS).combine_chunks()
    return first.to_batches()[0], chain(ahead, following)


def guess_columns(rows: Any, told: ColumnOverrides | None = None) -> Columns:
    """From the first rows, a RecordBatch."""
    names = rows.schema.names
    written = [_written(column) for column in rows.columns]
    guessed = guess(names, [[cells[row] for cells in written] for row in range(rows.num_rows)], told)
    by_type = {
        name: why for name, column in zip(names, rows.columns, strict=True) if (why := _no_use(column))
    }
    return Columns(
        tuple(
            Column(column.name, roles.IGNORE, by_type[column.name])
            if column.name in by_type and column.why != "as told"
            else column
            for column in guessed.columns
        ),
        guessed.missing,
    )


def head_labels(rows: Any, columns: Columns) -> list[str]:
    """The different labels in the first rows, as they are written, sorted."""
    return columns.present(label for name in columns.of(roles.LABEL) for label in distinct(rows.column(name)))


def distinct(array: Any) -> set[str]:
    """The different values of a column, as they are written."""
    return {text.strip() for text in _written(buffers.plain(array).unique()) if text is not None}


def _written(array: Any) -> list[str | None]:
    """The cells of a column as texts."""
    pyarrow = extras.pyarrow("a table")
    if _no_use(array):
        return [None] * len(array)
    array = buffers.plain(array)
    if pyarrow.types.is_floating(array.type):
        array = pyarrow.compute.if_else(pyarrow.compute.is_nan(array), None, array)
    return array.cast(pyarrow.string()).to_pylist()  # type: ignore[no-any-return]


def _no_use(array: Any) -> str:
    """Why a column cannot become features unless the user says how."""
    types = extras.pyarrow("a table").types
    if types.is_temporal(array.type):
        return "a date or time"
    if types.is_nested(array.type) or "binary" in str(array.type):
        return f"holds {array.type}"
    return ""
