"""Record batches: an Arrow IPC file, memory-mapped if it can be; an IPC stream; Parquet, some rows at a time.

Which it is the first bytes say. An IPC file is a stream behind eight bytes, so it can be piped and
compressed too; then it is read, not mapped. Parquet is read from its end and cannot.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.io import extras, sources
from steelyard.io import header as headers
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.header import NAMES_KEY, Header
from steelyard.io.sources import Source

IPC_FILE, IPC_STREAM, PARQUET = b"ARROW1\0\0", b"\xff\xff\xff\xff", b"PAR1"
_BUFFER = 1 << 20  # of each column of a Parquet file
_AT_ONCE = 1 << 24
_LARGEST_SCHEMA = 1 << 22
_LARGEST_READ = 1 << 28  # bytes of a batch
_MAPPED = 8  # times the size: what is neither read nor parsed is worth larger parts


@dataclass(frozen=True)
class Batch(Block):
    """Some rows of an Arrow table; or its names, which come last and without rows."""

    unit: ClassVar[str] = "row"
    rows: Any = None  # a RecordBatch
    header: Header | None = None
    names: bytes | None = None

    def first(self, lines: int) -> Self:
        """The first of its rows."""
        return replace(self, rows=self.rows.slice(0, lines))


def batches(source: Source, size: int, columns: Sequence[str] | None = None) -> Iterator[Batch]:
    """The rows of a file, about `size` bytes of them at a time; of Parquet only these columns are read."""
    pyarrow = extras.pyarrow(source.path)
    kind = _kind(source.peek(len(IPC_FILE)), source.path)
    with _readable(pyarrow, source.path):
        if kind == PARQUET:
            yield from _parquet(pyarrow, source, size, columns)
        else:
            read = _mapped if kind == IPC_FILE and _plain(source) else _streamed
            yield from read(pyarrow, source, size)


def peeked(source: Source, size: int) -> Iterator[Batch]:
    """The first rows of what can be read once only, which stay to be read: a batch at least, if there is one.

    More is looked at for as long as the first batch is not whole.
    """
    pyarrow = extras.pyarrow(source.path)
    if _kind(source.peek(len(IPC_FILE)), source.path) == PARQUET:
        _parquet_file(pyarrow, source)
    while True:
        head = source.peek(size)
        ended = len(head) < size
        rows = 0
        try:
            for batch in pyarrow.ipc.open_stream(head.removeprefix(IPC_FILE)):
                rows += batch.num_rows
                yield Batch(source.path, NO_TEXT, 0, rows=batch)
        except (pyarrow.ArrowException, OSError) as error:  # where the head ends
            if ended and not rows:
                raise InputError(_damaged(source.path, error)) from None
        if rows or ended:
            return
        size *= 2


def schema(path: str) -> Any:
    """The columns of a file, which is not read on."""
    pyarrow = extras.pyarrow(path)
    with sources.opened(path) as source, _readable(pyarrow, source.path):
        if _kind(source.peek(len(IPC_FILE)), source.path) == PARQUET:
            return _parquet_file(pyarrow, source).schema_arrow
        return pyarrow.ipc.open_stream(source.peek(_LARGEST_SCHEMA).removeprefix(IPC_FILE)).schema


def header(path: str) -> Header | None:
    """What a file says of itself; None if it is not of our making."""
    return headers.header(schema(path).metadata, path)


def _mapped(pyarrow: Any, source: Source, size: int) -> Iterator[Batch]:
    """The file's own bytes, not copied, if nobody can cut it short meanwhile; else read batch by batch.

    Batches that are too large for that are mapped nevertheless.
    """
    leased, length = source.lease(), source.size or 0
    reader = pyarrow.ipc.open_file((pyarrow.memory_map if leased else pyarrow.OSFile)(source.path))
    count = reader.num_record_batches
    if not leased and length > count * _LARGEST_READ:
        reader = pyarrow.ipc.open_file(pyarrow.memory_map(source.path))
    found = headers.header(reader.schema.metadata, source.path)
    names = None
    for number in range(count):
        source.check()
        rows, metadata = reader.get_batch_with_custom_metadata(number)
        names = _names(metadata)
        for part, done in _slices(rows, size * _MAPPED):
            source.check()
            yield Batch(source.path, NO_TEXT, int(length * (number + done) / count), rows=part, header=found)
    source.check()
    yield from _last(source, length, found, names)


def _streamed(pyarrow: Any, source: Source, size: int) -> Iterator[Batch]:
    whole_file = source.peek(len(IPC_FILE)) == IPC_FILE
    reader = pyarrow.ipc.open_stream(_behind_the_magic(source))
    found = headers.header(reader.schema.metadata, source.path)
    names = None
    for rows, metadata in reader.iter_batches_with_custom_metadata():
        names = _names(metadata)
        for part, _ in _slices(rows, size):
            yield Batch(source.path, NO_TEXT, source.position, rows=part, header=found)
    if whole_file and not _rest(source).endswith(IPC_FILE.rstrip(b"\0")):
        raise InputError(f"{source.path}: is cut off")
    yield from _last(source, source.position, found, names)


def _parquet(pyarrow: Any, source: Source, size: int, columns: Sequence[str] | None) -> Iterator[Batch]:
    """Column chunks are read through small buffers: a row group may be larger than memory."""
    with _parquet_file(pyarrow, source) as file:
        metadata, length = file.metadata, source.size or 0
        found = headers.header(metadata.metadata, source.path)
        total = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        at_once = max(1, size * metadata.num_rows // max(total, 1))
        done = 0
        for rows in file.iter_batches(batch_size=at_once, columns=columns):
            done += rows.num_rows
            position = length * done // metadata.num_rows
            yield Batch(source.path, NO_TEXT, position, rows=rows, header=found)
        yield from _last(source, length, found, _names(metadata.metadata))


def _last(source: Source, position: int, found: Header | None, names: bytes | None) -> Iterator[Batch]:
    if found is not None and names is not None:
        yield Batch(source.path, NO_TEXT, position, header=found, names=names)


def _slices(rows: Any, size: int) -> Iterator[tuple[Any, float]]:
    """A batch in parts of about `size` bytes, each with the part of it that is then done."""
    total = rows.num_rows
    parts = max(1, rows.nbytes // size)  # even ones: a batch of just over the size is one part
    at_once = max(1, -(-total // parts))
    for start in range(0, total, at_once):
        yield rows.slice(start, at_once), min(start + at_once, total) / total


class _Bytes:
    """A source as pyarrow takes it. A damaged file may ask for more than there is, or than fits in memory."""

    closed = False

    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, count: int) -> bytes:
        parts = []
        while count > 0 and (part := self._source.read(min(count, _AT_ONCE))):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _behind_the_magic(source: Source) -> _Bytes:
    if source.peek(len(IPC_FILE)) == IPC_FILE:
        source.read(len(IPC_FILE))
    return _Bytes(source)


def _parquet_file(pyarrow: Any, source: Source) -> Any:
    if not _plain(source):
        raise InputError(
            f"{source.path}: Parquet is read from its end, so it can neither be piped in nor compressed "
            "as a whole; save it as a file and name that"
        )
    return pyarrow.parquet.ParquetFile(source.path, buffer_size=_BUFFER, pre_buffer=False)


def _plain(source: Source) -> bool:
    """Whether the file on the disk is what the source reads: neither piped nor compressed."""
    head = source.peek(len(IPC_FILE))
    if source.size is None:
        return False
    with Path(source.path).open("rb") as file:
        return file.read(len(head)) == head


def _kind(head: bytes, path: str) -> bytes:
    for kind in (IPC_FILE, IPC_STREAM, PARQUET):
        if head.startswith(kind):
            return kind
    raise InputError(
        f"{path}: neither Arrow IPC nor Parquet, from its first bytes (--format says what it is); "
        "a Feather file of version 1 or a stream of an Arrow before 0.15 has to be written anew"
    )


def _names(metadata: Mapping[bytes, bytes] | None) -> bytes | None:
    return metadata.get(NAMES_KEY) if metadata else None


def _rest(source: Source) -> bytes:
    """The end of what is left to read."""
    end = more = source.read(_BUFFER)
    while more:
        more = source.read(_BUFFER)
        end = (end + more)[-len(IPC_FILE) :]
    return end


@contextmanager
def _readable(pyarrow: Any, path: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(_damaged(path, error)) from None


def _damaged(path: str, error: Exception) -> str:
    return f"{path}: cannot be read, it seems damaged or cut off ({error})"


NO_TEXT: NDArray[np.uint8] = np.zeros(0, np.uint8)
