"""Any stream of examples → a file of ready-made sparse rows: read once, then mapped into memory."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _atomic_files
from steelyard.examples import Examples
from steelyard.features.names import Names
from steelyard.io import extras
from steelyard.io.header import NAMES_KEY, Header, packed_names
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.rebatch import NO_ROWS, Piece, piece, regrouped

ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
PARQUET_SUFFIXES = (".parquet", ".pq")
BATCH_SIZE = 1 << 24  # bytes


def convert(
    chunks: Iterable[ParsedBlock | Examples],
    path: str | Path,
    *,
    features: int,
    names: Names | None = None,
    reading: Mapping[str, Any] | None = None,
) -> int:
    """Write the rows to `path`, Arrow IPC or Parquet by its suffix; returns how many they were.

    `names` are those that the stream fills on the way; `reading` is kept as it is, for whoever wants
    to know how the original was read. The file appears once it is whole.
    """
    path = Path(path)
    pyarrow = extras.pyarrow(str(path))
    if path.suffix not in ARROW_SUFFIXES + PARQUET_SUFFIXES:
        known = ", ".join(ARROW_SUFFIXES + PARQUET_SUFFIXES)
        raise ValueError(f"{path}: the suffix says neither Arrow nor Parquet; known are {known}")
    pieces = regrouped((piece(chunk) for chunk in chunks), BATCH_SIZE)
    first = next(pieces, NO_ROWS)
    schema = _schema(pyarrow, first, Header(features, reading or {}))
    count = 0
    with _atomic_files.replacing(path) as temporary, _writer(pyarrow, path, temporary, schema) as writer:
        for rows in chain([first], pieces):
            with _writing(path):
                writer.write_batch(_batch(pyarrow, rows, schema))
            count += len(rows)
        with _writing(path):
            _write_names(writer, _batch(pyarrow, first.part(0, 0), schema), names)
            writer.close()
    return count


def _schema(pyarrow: Any, like: Piece, header: Header) -> Any:
    def numbers(name: str, array: NDArray[Any]) -> Any:
        entry = pyarrow.field("item", pyarrow.from_numpy_dtype(array.dtype), nullable=False)
        return pyarrow.field(name, pyarrow.list_(entry), nullable=False)

    real = pyarrow.float64()
    columns = [pyarrow.field("label", real)]
    columns += [pyarrow.field(name, real, nullable=False) for name in ("importance", "base")]
    if like.tags is not None:
        columns.append(pyarrow.field("tag", pyarrow.binary()))
    columns += [numbers("indices", like.indices), numbers("values", like.values)]
    return pyarrow.schema(columns, metadata=header.metadata())


def _batch(pyarrow: Any, rows: Piece, schema: Any) -> Any:
    """The arrays as they are, but for the offsets and for what says which labels and tags there are."""

    def array(kind: Any, *parts: NDArray[Any] | None, children: Any = None) -> Any:
        held = [None if part is None else pyarrow.py_buffer(np.ascontiguousarray(part)) for part in parts]
        return pyarrow.Array.from_buffers(kind, len(rows), held, children=children)

    columns = []
    for field in schema:
        if field.name == "label":
            columns.append(array(field.type, _present(~np.isnan(rows.labels)), rows.labels))
        elif field.name == "importance":
            columns.append(array(field.type, None, rows.sample_weight))
        elif field.name == "base":
            columns.append(array(field.type, None, rows.offsets))
        elif field.name == "tag" and rows.tag_lengths is not None:
            offsets = _offsets(rows.tag_lengths)
            columns.append(array(field.type, _present(rows.tag_lengths > 0), offsets, rows.tags))
        else:
            entries = pyarrow.array(rows.indices if field.name == "indices" else rows.values)
            columns.append(array(field.type, None, _offsets(rows.lengths), children=[entries]))
    return pyarrow.record_batch(columns, schema=schema)


def _present(present: NDArray[np.bool_]) -> NDArray[np.uint8] | None:
    return None if present.all() else np.packbits(present, bitorder="little")


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


@contextmanager
def _writer(pyarrow: Any, path: Path, temporary: Path, schema: Any) -> Iterator[Any]:
    with _writing(path):
        if path.suffix in PARQUET_SUFFIXES:
            writer = pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd")
        else:
            writer = pyarrow.ipc.new_file(str(temporary), schema)
    try:
        yield writer
    except BaseException:
        with suppress(OSError):  # else pyarrow would close it at some other time, and complain then
            writer.close()
        raise


def _write_names(writer: Any, no_rows: Any, names: Names | None) -> None:
    if names is None:
        return
    packed = {NAMES_KEY: packed_names(names)}
    if hasattr(writer, "add_key_value_metadata"):
        writer.add_key_value_metadata(packed)
    else:
        writer.write_batch(no_rows, packed)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno, f"could not be written ({error}); what was there before is as it was", str(path)
        ) from None
