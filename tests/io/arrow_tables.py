"""Arrow tables read as ordinary columns, for tests."""

from typing import Any

import pytest

from steelyard.features import Names
from steelyard.io.arrow_columns import ArrowColumns
from steelyard.io.arrow_reader import ArrowReader
from steelyard.io.columns import Columns
from steelyard.io.input_spec import InputSpec
from tests.support import tables

pa = pytest.importorskip("pyarrow")
BITS = 12


def ipc(table: Any, rows_a_batch: int = 1 << 20) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_a_batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def reader(
    columns: Columns, names: Names | None = None, crosses: tuple[str, ...] = (), **options: Any
) -> ArrowReader:
    spec = InputSpec("arrow", BITS, crosses, columns=columns, **options)
    return ArrowReader(1 << BITS, ArrowColumns(spec, names))


def read(
    table: Any,
    columns: Columns,
    *,
    names: bool = False,
    size: int = 1 << 21,
    threads: int = 1,
    **options: Any,
) -> tables.Read:
    kept = Names(1 << BITS) if names else None
    return tables.read(reader(columns, kept, **options), ipc(table), names=kept, size=size, threads=threads)
