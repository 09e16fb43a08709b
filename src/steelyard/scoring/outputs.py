"""`Output`: one file that is written block by block beside its place, and renamed when it is whole.

A block becomes one member of a compressed file (gzip, xz, bzip2 and zstd files are members one after another), so
that threads compress side by side, and a file that was cut off can go on behind its last whole block.
"""

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from steelyard._file_lock import lock
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.errors import InputError
from steelyard.scoring.table_files import ArrowFile

Compress = Callable[[bytes], bytes]
_LEVEL = 6  # of gzip: 9, Python's default, takes twice as long for 1 % less


def _zstd(text: bytes) -> bytes:
    return bytes(import_pyarrow("zstd").Codec("zstd").compress(text, asbytes=True))


_COMPRESSORS: dict[bytes, Compress] = {
    b"\x1f\x8b": lambda text: gzip.compress(text, _LEVEL, mtime=0),
    b"\xfd7zXZ": lzma.compress,
    b"BZh": bz2.compress,
    b"\x28\xb5\x2f\xfd": _zstd,
}


def compressor(beginning: bytes) -> Compress:
    """What compresses as a file is compressed that begins so."""
    found = (compress for mark, compress in _COMPRESSORS.items() if beginning.startswith(mark))
    return next(found, lambda text: text)


class TextOutput:
    """JSON lines and delimited text. It can go on behind `size` bytes of an earlier run."""

    def __init__(self, path: Path, header: bytes, compress: Compress, size: int = 0) -> None:
        self.path = path
        self._partial = partial_path(path)
        self._file = _open_alone(self._partial)
        self._file.truncate(size)
        self._empty = compress(b"")
        if not size and header:
            self._file.write(compress(header))

    def write(self, rendered: bytes) -> None:
        self._file.write(rendered)

    def save(self) -> int:
        """Put everything on the disk; returns how many bytes that is."""
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

    def __init__(self, path: Path, schema: Any, kind: str) -> None:
        self._arrow: Any = import_pyarrow(str(path))
        self.path = path
        self._partial = partial_path(path)
        self._file = _open_alone(self._partial)
        self._file.truncate(0)
        self._rows = ArrowFile(self._file, schema, kind)

    def write(self, rendered: Any) -> None:
        self._rows.write(rendered)

    def finish(self) -> None:
        self._rows.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._partial.replace(self.path)
        self._file.close()

    def abandon(self) -> None:
        with suppress(self._arrow.ArrowException, OSError):
            self._rows.abandon()
        self._file.close()
        self._partial.unlink(missing_ok=True)


Output = TextOutput | ArrowOutput


def partial_path(path: Path) -> Path:
    """Where a file is until it is whole."""
    return path.with_name(f".{path.name}.partial")


def _open_alone(partial: Path) -> BinaryIO:
    """Two runs may share a folder, but not a file."""
    file = partial.open("ab")
    if not lock(file.fileno()):
        file.close()
        raise InputError(f"{partial}: is being written by another run")
    return file
