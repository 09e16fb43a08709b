"""`Output`: one file that is written block by block beside its place, and renamed when it is whole."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from steelyard._file_lock import lock
from steelyard.filtering.rendering import Compress, Renderer
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.errors import InputError

_ROW_GROUP = 1 << 24  # bytes of rows that make a row group of Parquet


class TextOutput:
    """JSON lines and delimited text. It can go on behind `size` bytes of an earlier run."""

    resumable = True

    def __init__(self, path: Path, renderer: Renderer, compress: Compress, size: int = 0) -> None:
        self.path = path
        self._partial = partial_path(path)
        self._file = _open_alone(self._partial)
        self._file.truncate(size)
        self._empty = compress(b"")
        if not size and renderer.header:
            self._file.write(compress(renderer.header))

    def write(self, rendered: bytes) -> None:
        self._file.write(rendered)

    def save(self) -> int:
        """Everything on the disk; returns how many bytes that is."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def finish(self) -> None:
        if not self._file.tell():
            self._file.write(self._empty)  # an empty file, compressed as the input is
        self.save()
        self._partial.replace(self.path)
        self._file.close()

    def abandon(self) -> None:
        """Leave what is there for the next run."""
        self._file.close()


class ArrowOutput:
    """Parquet or Arrow. Their end says what is in them, so that one that was cut off begins anew."""

    resumable = False

    def __init__(self, path: Path, schema: Any, kind: str) -> None:
        self._arrow: Any = import_pyarrow(str(path))
        self.path, self._schema = path, schema
        self._partial = partial_path(path)
        self._file = _open_alone(self._partial)
        self._file.truncate(0)
        if kind == "parquet":
            self._writer = self._arrow.parquet.ParquetWriter(self._file, schema)
        else:
            self._writer = self._arrow.ipc.new_file(self._file, schema)
        self._waiting: list[Any] = []
        self._size = 0

    def write(self, rendered: Any) -> None:
        self._waiting.append(rendered)
        self._size += rendered.nbytes
        if self._size >= _ROW_GROUP:
            self._flush()

    def save(self) -> int:
        raise NotImplementedError

    def finish(self) -> None:
        self._flush()
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._partial.replace(self.path)
        self._file.close()

    def abandon(self) -> None:
        with suppress(self._arrow.ArrowException, OSError):
            self._writer.close()
        self._file.close()
        self._partial.unlink(missing_ok=True)

    def _flush(self) -> None:
        rows = self._arrow.Table.from_batches(self._waiting, self._schema)
        self._writer.write_table(rows.combine_chunks())
        self._waiting, self._size = [], 0


Output = TextOutput | ArrowOutput


def partial_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


def _open_alone(partial: Path) -> BinaryIO:
    """Two runs may share a folder, but not a file."""
    file = partial.open("ab")
    if not lock(file.fileno()):
        file.close()
        raise InputError(f"{partial}: is being written by another run")
    return file
