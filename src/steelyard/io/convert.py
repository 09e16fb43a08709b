"""Any stream of examples → a file of sparse rows, which is later mapped into memory.

Chunks of any size are regrouped into batches by the sizes of the rows: a batch ends with the first row
that fills it. So its end depends on the rows alone, not on how they came in chunks.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _atomic_files
from steelyard.examples import Examples
from steelyard.features import Names
from steelyard.io.arrow_arrays import gather, import_pyarrow
from steelyard.io.arrow_csr import NAMES_KEY, Header, no_rows, pack_names
from steelyard.io.blocks import ParsedBlock
from steelyard.io.formats.arrow import Arrow, Parquet

BATCH_SIZE = 1 << 24  # bytes
_ROW = 32  # bytes of a row without its features and its tag, about


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
    batches = regroup(map(to_batch, chunks), BATCH_SIZE)
    first = next(batches, None) or to_batch(no_rows(features))[0]
    schema = first.schema.with_metadata(Header(features, reading or {}).metadata())
    count = 0
    with _atomic_files.replacing(path) as temporary, _writer(pyarrow, path, temporary, schema) as writer:
        for rows in chain([first], batches):
            with _writing(path):
                writer.write_batch(rows)
            count += rows.num_rows
        with _writing(path):
            _write_names(writer, first.slice(0, 0), names)
            writer.close()
    return count


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


def to_batch(chunk: ParsedBlock | Examples) -> tuple[Any, NDArray[np.int64]]:
    """The rows of a chunk as a RecordBatch, and their cumulative sizes in bytes.

    Arrays are taken as they are; only offsets, and which labels and tags are present, are computed.
    """
    pyarrow = import_pyarrow()
    rows = chunk if isinstance(chunk, Examples) else chunk.examples
    lengths = np.diff(rows.indptr)
    sizes = lengths * (rows.indices.itemsize + rows.values.itemsize) + _ROW
    offsets = np.zeros(len(rows)) if rows.offsets is None else rows.offsets  # in some chunks only, perhaps
    columns = {
        "label": pyarrow.array(rows.labels, from_pandas=True),
        "importance": pyarrow.array(rows.sample_weight),
        "base": pyarrow.array(offsets),
    }
    if isinstance(chunk, ParsedBlock) and chunk.tags is not None:
        tag_lengths = (chunk.tags[:, 1] - chunk.tags[:, 0]).astype(np.int64)
        sizes += tag_lengths
        text = gather(chunk.block.text if chunk.text is None else chunk.text, chunk.tags[:, 0], tag_lengths)
        present = np.packbits(tag_lengths > 0, bitorder="little")
        buffers = [pyarrow.py_buffer(part) for part in (present, _offsets(tag_lengths), text)]
        columns["tag"] = pyarrow.Array.from_buffers(pyarrow.binary(), len(rows), buffers)
    indices = np.tile(rows.indices, len(rows)) if rows.dense else rows.indices
    for name, entries in (("indices", indices), ("values", rows.values)):
        item = pyarrow.field("item", pyarrow.from_numpy_dtype(entries.dtype), nullable=False)
        columns[name] = pyarrow.ListArray.from_arrays(
            _offsets(lengths), pyarrow.array(entries), type=pyarrow.list_(item)
        )
    schema = pyarrow.schema(
        [pyarrow.field(name, each.type, name in ("label", "tag")) for name, each in columns.items()]
    )
    return pyarrow.record_batch(list(columns.values()), schema=schema), np.cumsum(sizes)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def regroup(parts: Iterable[tuple[Any, NDArray[np.int64]]], size: int) -> Iterator[Any]:
    """Regroup rows into batches of about `size` bytes."""
    held: list[Any] = []
    filled = 0
    for given, sizes in parts:
        start = before = 0
        while (end := int(np.searchsorted(sizes, before + size - filled)) + 1) <= len(sizes):
            yield _join([*held, given.slice(start, end - start)])
            held, filled = [], 0
            start, before = end, int(sizes[end - 1])
        if start < len(sizes):
            held.append(given.slice(start))
            filled += int(sizes[-1]) - before
    if held:
        yield _join(held)


def _join(parts: list[Any]) -> Any:
    kinds = {str(part.schema.types) for part in parts}
    if len(kinds) > 1:
        raise ValueError(f"chunks of one stream differ in types, or in having tags: {sorted(kinds)}")
    pyarrow = import_pyarrow()
    # a copy even of a single part: a slice would be written together with bits of the rows beside it
    columns = [pyarrow.concat_arrays(each) for each in zip(*(part.columns for part in parts), strict=True)]
    return pyarrow.record_batch(columns, schema=parts[0].schema)
