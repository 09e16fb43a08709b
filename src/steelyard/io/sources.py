"""Bytes: from a path, several, a glob or standard input, plain or compressed; whatever the suffix says.

Compression is told by the first bytes, so that standard input may be compressed as well.
"""

import bz2
import glob
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from steelyard.io.errors import InputError

STANDARD_INPUT = "-"
COMPRESSED_SUFFIXES = (".gz", ".xz", ".zst", ".bz2")
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)


def expand(given: Sequence[str | Path]) -> list[str]:
    """The files meant: patterns are expanded, in alphabetical order; each must be there to be read."""
    if not given:
        raise InputError("no input: name a file, several, a pattern, or - for standard input")
    paths = []
    for name in map(str, given):
        if name == STANDARD_INPUT or Path(name).exists():
            paths.append(name)
            continue
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - it takes a pattern from anywhere
        if not matches:
            raise InputError(f"{name}: there is no such file")
        paths += matches
    for path in paths:
        if path != STANDARD_INPUT and Path(path).is_dir():
            raise InputError(f"{path}: is a folder; name the files in it, for example {path}/*")
    if paths.count(STANDARD_INPUT) > 1:
        raise InputError("standard input (-) can be read once only")
    return paths


class Source:
    """One file, opened. `read` gives its bytes, decompressed; `position` is how far the file is read."""

    def __init__(self, path: str) -> None:
        self.path = "standard input" if path == STANDARD_INPUT else path
        try:
            self._file: Any = sys.stdin.buffer if path == STANDARD_INPUT else Path(path).open("rb")  # noqa: SIM115
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        self._regular = path != STANDARD_INPUT and Path(path).is_file()
        self._state = self._stat()
        self._read = self._opened()
        self._ahead = b""

    @property
    def size(self) -> int | None:
        """Of the file, in bytes; None where that is not known beforehand."""
        return self._state[0] if self._regular else None

    @property
    def position(self) -> int:
        return self._file.tell() if self._regular else 0

    def read(self, count: int) -> bytes:
        """The next bytes; fewer than asked for, or none, only at the end."""
        parts = [self._ahead[:count]]
        self._ahead = self._ahead[count:]
        wanted = count - len(parts[0])
        while wanted > 0:
            part = self._more(wanted)
            if not part:
                break
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts) if len(parts) > 1 else parts[0]

    def peek(self, count: int) -> bytes:
        """The next bytes, which `read` will give again."""
        if len(self._ahead) < count:
            self._ahead = self.read(count)
        return self._ahead[:count]

    def close(self) -> None:
        self._file.close()

    def _more(self, count: int) -> bytes:
        try:
            part = self._read(count)
        except _DAMAGED as error:
            raise InputError(
                f"{self.path}: cannot be read to its end, it seems damaged or cut off ({error})"
            ) from None
        if not part and self._regular and self._stat() != self._state:
            raise InputError(
                f"{self.path}: has changed while it was read; work on a copy, or pipe it in: "
                f"cat {self.path} | steelyard … -"
            )
        return part

    def _stat(self) -> tuple[int, int]:
        if not self._regular:
            return 0, 0
        found = os.fstat(self._file.fileno())
        return found.st_size, found.st_mtime_ns

    def _opened(self) -> Callable[[int], bytes]:
        head = self._file.peek(6)[:6]
        if head.startswith(b"\x1f\x8b"):
            return gzip.GzipFile(fileobj=self._file).read
        if head.startswith(b"\xfd7zXZ\x00"):
            return lzma.LZMAFile(self._file).read
        if head.startswith(b"BZh"):
            return bz2.BZ2File(self._file).read
        if head.startswith(b"\x28\xb5\x2f\xfd"):
            return _zstandard(self._file, self.path)
        return cast(Callable[[int], bytes], self._file.read)


def _zstandard(file: BinaryIO, path: str) -> Callable[[int], bytes]:
    try:
        import pyarrow
    except ImportError:
        raise InputError(f'{path}: zstd needs pyarrow: pip install "steelyard[arrow]"') from None
    return cast(Callable[[int], bytes], pyarrow.CompressedInputStream(file, "zstd").read)


@contextmanager
def opened(path: str) -> Iterator[Source]:
    """A source for as long as it is needed. Standard input stays open: what was peeked at is read again."""
    if path == STANDARD_INPUT:
        yield _standard_input()
        return
    source = Source(path)
    try:
        yield source
    finally:
        source.close()


@cache
def _standard_input() -> Source:
    return Source(STANDARD_INPUT)
