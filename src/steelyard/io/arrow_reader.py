"""The reader of Arrow IPC and Parquet: sparse rows, or ordinary columns.

An IPC file is memory-mapped if possible; an IPC stream is read batch by batch, Parquet some rows at a
time. The first bytes tell which it is. An IPC file is a stream behind eight bytes, so it can be piped
and compressed too; then it is read, not mapped. Parquet is read from its end and cannot.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from steelyard._parameters import Message, Parameter, message_of
from steelyard.io import arrow_csr
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.arrow_columns import ArrowColumns, take_head
from steelyard.io.arrow_csr import NAMES_KEY, NO_TEXT, ArrowBlock, Header, read_header, unpack_names
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.column_inference import HEAD_BYTES
from steelyard.io.errors import InputError
from steelyard.io.sources import Source

IPC_FILE, IPC_STREAM, PARQUET = b"ARROW1\0\0", b"\xff\xff\xff\xff", b"PAR1"
_BUFFER = 1 << 20  # bytes, for each column of a Parquet file
_AT_ONCE = 1 << 24
_LARGEST_SCHEMA = 1 << 22
_LARGEST_READ = 1 << 28  # bytes of a batch
_MAPPED = 8  # times the size: mapped parts are neither read nor parsed, so larger ones pay


def read_batches(source: Source, size: int, columns: Sequence[str] | None = None) -> Iterator[ArrowBlock]:
    """The rows of a file, about `size` bytes at a time; from Parquet only these columns are read."""
    pyarrow = import_pyarrow(source.path)
    kind = _kind(source.peek(len(IPC_FILE)), source.path)
    with _readable(pyarrow, source.path):
        if kind == PARQUET:
            yield from _parquet(pyarrow, source, size, columns)
        else:
            read = _mapped if kind == IPC_FILE and _plain(source) else _streamed
            yield from read(pyarrow, source, size)


def peek_batches(source: Source, size: int) -> Iterator[ArrowBlock]:
    """The first rows of a pipe, which will be read again: at least one batch, if there is one.

    More is peeked at until the first batch is complete.
    """
    pyarrow = import_pyarrow(source.path)
    if _kind(source.peek(len(IPC_FILE)), source.path) == PARQUET:
        _parquet_file(pyarrow, source)
    while True:
        head = source.peek(size)
        ended = len(head) < size
        rows = 0
        try:
            for batch in pyarrow.ipc.open_stream(head.removeprefix(IPC_FILE)):
                batch.validate(full=True)
                rows += batch.num_rows
                yield ArrowBlock(source.path, NO_TEXT, 0, rows=batch)
        except (pyarrow.ArrowException, OSError) as error:  # where the head ends
            if ended and not rows:
                raise InputError(_damaged(source.path, error)) from None
        if rows or ended:
            return
        size *= 2


def read_schema(source: Source) -> Any:
    """The columns of a file, of which only the beginning is peeked at."""
    pyarrow = import_pyarrow(source.path)
    with _readable(pyarrow, source.path):
        if _kind(source.peek(len(IPC_FILE)), source.path) == PARQUET:
            return _parquet_file(pyarrow, source).schema_arrow
        return pyarrow.ipc.open_stream(source.peek(_LARGEST_SCHEMA).removeprefix(IPC_FILE)).schema


def _mapped(pyarrow: Any, source: Source, size: int) -> Iterator[ArrowBlock]:
    """The file's own bytes, not copied, if no program can cut it short meanwhile; else read batch by batch.

    Batches too large to be read are mapped nevertheless.
    """
    leased, length = source.lease(), source.size or 0
    reader = pyarrow.ipc.open_file((pyarrow.memory_map if leased else pyarrow.OSFile)(source.path))
    count = reader.num_record_batches
    if not leased and length > count * _LARGEST_READ:
        reader = pyarrow.ipc.open_file(pyarrow.memory_map(source.path))
    found = read_header(reader.schema.metadata, source.path)
    metadata = None
    for number in range(count):
        source.check()
        rows, metadata = reader.get_batch_with_custom_metadata(number)
        for part, done in _slices(rows, size * _MAPPED):
            source.check()
            yield ArrowBlock(
                source.path, NO_TEXT, int(length * (number + done) / count), rows=part, header=found
            )
    source.check()
    yield from _names(source, length, found, metadata)


def _streamed(pyarrow: Any, source: Source, size: int) -> Iterator[ArrowBlock]:
    whole_file = source.peek(len(IPC_FILE)) == IPC_FILE
    if whole_file:
        source.read(len(IPC_FILE))
    reader = pyarrow.ipc.open_stream(_Bytes(source))
    found = read_header(reader.schema.metadata, source.path)
    metadata = None
    for rows, metadata in reader.iter_batches_with_custom_metadata():  # noqa: B007 - the last has the names
        for part, _ in _slices(rows, size):
            yield ArrowBlock(source.path, NO_TEXT, source.position, rows=part, header=found)
    if whole_file and not _rest(source).endswith(IPC_FILE.rstrip(b"\0")):
        raise InputError(f"{source.path}: is cut off")
    yield from _names(source, source.position, found, metadata)


def _parquet(pyarrow: Any, source: Source, size: int, columns: Sequence[str] | None) -> Iterator[ArrowBlock]:
    """Column chunks are read through small buffers: a row group may be larger than memory."""
    with _parquet_file(pyarrow, source) as file:
        metadata, length = file.metadata, source.size or 0
        found = read_header(metadata.metadata, source.path)
        total = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        at_once = max(1, size * metadata.num_rows // max(total, 1))
        done = 0
        for rows in file.iter_batches(batch_size=at_once, columns=columns):
            rows.validate(full=True)
            done += rows.num_rows
            position = length * done // metadata.num_rows
            yield ArrowBlock(source.path, NO_TEXT, position, rows=rows, header=found)
        yield from _names(source, length, found, metadata.metadata)


def _names(
    source: Source, position: int, found: Header | None, metadata: Mapping[bytes, bytes] | None
) -> Iterator[ArrowBlock]:
    """The names of features, if these metadata have them."""
    if found is not None and metadata and NAMES_KEY in metadata:
        yield ArrowBlock(source.path, NO_TEXT, position, header=found, names=metadata[NAMES_KEY])


def _slices(rows: Any, size: int) -> Iterator[tuple[Any, float]]:
    """A batch in parts of about `size` bytes, each with the share of the batch that is then done.

    Nothing else looks whether offsets and dictionaries stay within their buffers, and whether texts are
    texts: a file that was damaged, or made up, would have us read beyond them.
    """
    rows.validate()  # that buffers are long enough, before anything is asked of them
    total = rows.num_rows
    parts = max(1, rows.nbytes // size)  # of equal size: a batch just over the size is one part
    at_once = max(1, -(-total // parts))
    for start in range(0, total, at_once):
        part = rows.slice(start, at_once)
        part.validate(full=True)
        yield part, min(start + at_once, total) / total


class _Bytes:
    """A source as pyarrow takes it. A damaged file may ask for more bytes than fit."""

    closed = False

    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, count: int) -> bytes:
        parts = []
        while count > 0 and (part := self._source.read(min(count, _AT_ONCE))):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _parquet_file(pyarrow: Any, source: Source) -> Any:
    if not _plain(source):
        raise InputError(
            f"{source.path}: Parquet is read from its end, so it can neither be piped in nor compressed "
            "as a whole; save it as a file and name that"
        )
    return pyarrow.parquet.ParquetFile(source.path, buffer_size=_BUFFER, pre_buffer=False)


def _plain(source: Source) -> bool:
    """Whether the source reads the file as it is on disk: neither piped nor compressed."""
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
        f"{path}: neither Arrow IPC nor Parquet, from its first bytes (", Parameter("format"), " says what it "
        "is); a Feather file of version 1 or a stream of an Arrow before 0.15 has to be rewritten",
    )  # fmt: skip


def _rest(source: Source) -> bytes:
    """The last bytes of the rest."""
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
    return f"{path}: cannot be read, it seems damaged or cut off ({error}); get a whole copy of it"


class ArrowReader:
    """Rows for a model of so many features; a file that was converted for another number is refused.

    Without `ordinary`, which knows the roles of ordinary columns, only sparse rows can be read.
    """

    def __init__(self, features: int, ordinary: ArrowColumns | None = None) -> None:
        self.numeric_labels = ordinary is None
        self._features = features
        self._ordinary = ordinary

    def blocks(self, source: Source, size: int) -> Iterator[Block]:
        for batch in read_batches(source, size):
            found = batch.header
            if found is not None and found.features != self._features:
                bits = "" if found.bits is None else Message(" (", Parameter("bits", found.bits), ")")
                raise InputError(
                    f"{batch.path}: was converted for {found.features} features, the model has "
                    f"{self._features}; use as many", bits, ", or convert the original again",
                )  # fmt: skip
            yield batch

    def parse(self, block: Block) -> ParsedBlock:
        batch = cast(ArrowBlock, block)
        if batch.rows is None:
            names = () if batch.names is None else unpack_names(batch.names, self._features, batch.path)
            return ParsedBlock(batch, arrow_csr.no_rows(self._features), 0, *names)
        pyarrow = import_pyarrow(batch.path)
        try:
            if arrow_csr.is_sparse(batch.rows.schema):
                return arrow_csr.parse(batch, self._features)
            if self._ordinary is not None:
                return self._ordinary.parse(batch)
        except (ValueError, pyarrow.ArrowException) as error:
            raise InputError(f"{batch.path}: ", message_of(error)) from None
        raise InputError(
            f"{batch.path}: has no lists 'indices' and 'values' but ordinary columns; give their roles"
        )

    def nothing(self) -> ArrowBlock:
        return ArrowBlock("", NO_TEXT, 0)


def read_head(source: Source) -> Any:
    """The first rows of a file, a RecordBatch, to infer the roles of columns from."""
    read = peek_batches if source.size is None else read_batches
    found = (batch.rows for batch in read(source, HEAD_BYTES) if batch.rows is not None)
    first, _ = take_head(found)
    if first is None:
        raise InputError(f"{source.path}: has no rows")
    return first
