"""Any stream of examples → a file of sparse rows, which is later mapped into memory.

Chunks of any size are regrouped into batches by the sizes of the rows: a batch ends with the first row
that fills it. So its end depends on the rows alone, not on how they came in chunks.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _atomic_files
from steelyard.examples import Examples
from steelyard.features.names import Names
from steelyard.io.arrow_arrays import gather, import_pyarrow
from steelyard.io.arrow_csr import NAMES_KEY, Header, pack_names
from steelyard.io.blocks import ParsedBlock
from steelyard.io.formats.arrow import Arrow, Parquet

BATCH_SIZE = 1 << 24  # bytes
_ROW = 32  # bytes of a row without its features and its tag, about


@dataclass(frozen=True)
class RowArrays:
    """Some rows as plain arrays: how many features each has, the features, and so on."""

    lengths: NDArray[np.int64]
    indices: NDArray[np.integer[Any]]
    values: NDArray[np.floating[Any]]
    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64]
    tag_lengths: NDArray[np.int64] | None
    tags: NDArray[np.uint8] | None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def kind(self) -> tuple[str, str, bool]:
        """What all parts of a stream must have in common."""
        return self.indices.dtype.name, self.values.dtype.name, self.tags is not None

    def sizes(self) -> NDArray[np.int64]:
        """The cumulative sizes of the rows in bytes."""
        each = self.lengths * (self.indices.itemsize + self.values.itemsize) + _ROW
        return np.cumsum(each if self.tag_lengths is None else each + self.tag_lengths)

    def part(self, start: int, end: int) -> "RowArrays":
        """The rows from `start` to before `end`."""
        entries = slice(*(int(self.lengths[:row].sum()) for row in (start, end)))
        tag_lengths = tags = None
        if self.tag_lengths is not None and self.tags is not None:
            tag_lengths = self.tag_lengths[start:end]
            tags = self.tags[slice(*(int(self.tag_lengths[:row].sum()) for row in (start, end)))]
        rows = slice(start, end)
        return RowArrays(
            self.lengths[rows], self.indices[entries], self.values[entries],
            self.labels[rows], self.sample_weight[rows], self.offsets[rows], tag_lengths, tags,
        )  # fmt: skip


NO_ROWS = RowArrays(
    np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0), np.zeros(0),
    np.zeros(0), None, None,
)  # fmt: skip


def convert(
    chunks: Iterable[ParsedBlock | Examples],
    path: str | Path,
    *,
    features: int,
    names: Names | None = None,
    reading: Mapping[str, Any] | None = None,
) -> int:
    """Write the rows to `path`, Arrow IPC or Parquet by its suffix; returns their number.

    `names` are those that the stream fills on the way; `reading` is stored as it is, and says how the
    original was read. The file appears once it is complete.
    """
    path = Path(path)
    pyarrow = import_pyarrow(str(path))
    known = Arrow.suffixes + Parquet.suffixes
    if path.suffix not in known:
        raise ValueError(f"{path}: the suffix says neither Arrow nor Parquet; known are {', '.join(known)}")
    batches = regroup((to_arrays(chunk) for chunk in chunks), BATCH_SIZE)
    first = next(batches, NO_ROWS)
    schema = _schema(pyarrow, first, Header(features, reading or {}))
    count = 0
    with _atomic_files.replacing(path) as temporary, _writer(pyarrow, path, temporary, schema) as writer:
        for rows in chain([first], batches):
            with _writing(path):
                writer.write_batch(_batch(pyarrow, rows, schema))
            count += len(rows)
        with _writing(path):
            _write_names(writer, _batch(pyarrow, first.part(0, 0), schema), names)
            writer.close()
    return count


def _schema(pyarrow: Any, like: RowArrays, header: Header) -> Any:
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


def _batch(pyarrow: Any, rows: RowArrays, schema: Any) -> Any:
    """The arrays as they are; only offsets, and which labels and tags are present, are computed."""

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
        if path.suffix in Parquet.suffixes:
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
    packed = {NAMES_KEY: pack_names(names)}
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
            error.errno, f"could not be written ({error}); what was there before is unchanged", str(path)
        ) from None


def to_arrays(chunk: ParsedBlock | Examples) -> RowArrays:
    """The rows of a chunk."""
    rows = chunk if isinstance(chunk, Examples) else chunk.examples
    tag_lengths = tags = None
    if isinstance(chunk, ParsedBlock) and chunk.tags is not None:
        tag_lengths = (chunk.tags[:, 1] - chunk.tags[:, 0]).astype(np.int64)
        text = chunk.block.text if chunk.text is None else chunk.text
        tags = gather(text, chunk.tags[:, 0], tag_lengths)
    return RowArrays(
        np.diff(rows.indptr),
        np.tile(rows.indices, len(rows)) if rows.dense else rows.indices,
        rows.values, rows.labels, rows.sample_weight,
        np.zeros(len(rows)) if rows.offsets is None else rows.offsets,  # in some chunks only, perhaps
        tag_lengths, tags,
    )  # fmt: skip


def regroup(parts: Iterable[RowArrays], size: int) -> Iterator[RowArrays]:
    """The same rows in parts of about `size` bytes."""
    held: list[RowArrays] = []
    filled = 0
    for given in parts:
        sizes = given.sizes()
        start = before = 0
        while (end := int(np.searchsorted(sizes, before + size - filled)) + 1) <= len(given):
            yield _join([*held, given.part(start, end)])
            held, filled = [], 0
            start, before = end, int(sizes[end - 1])
        if start < len(given):
            held.append(given.part(start, len(given)))
            filled += int(sizes[-1]) - before
    if held:
        yield _join(held)


def _join(joined: list[RowArrays]) -> RowArrays:
    kinds = {rows.kind for rows in joined}
    if len(kinds) > 1:
        raise ValueError(f"chunks of one stream differ in types, or in having tags: {sorted(kinds)}")
    columns: dict[str, Any] = {}
    for field in fields(RowArrays):
        parts = [getattr(rows, field.name) for rows in joined]
        columns[field.name] = None if parts[0] is None else np.concatenate(parts)
    return RowArrays(**columns)
