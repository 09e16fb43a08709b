"""`Source`: the bytes of a file, a pipe or standard input, decompressed; and paths and patterns expanded.

Compression is recognised by the first bytes, whatever the suffix is, so that standard input may be
compressed too. Text in another encoding and spreadsheets become UTF-8 on the way. Standard input and pipes
can be read only once: they stay open, and peeked bytes are read again.
"""

import bz2
import glob
import gzip
import hashlib
import io
import lzma
import os
import select
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from steelyard._messages import closest
from steelyard.io import leases, transcoding
from steelyard.io.errors import InputError

STANDARD_INPUT = "-"
COMPRESSED_SUFFIXES = (".gz", ".xz", ".zst", ".bz2")
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)
_BZIP2 = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # after BZh and a digit: a block, or the end
_HEAD = 10
_COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd")
PATIENCE = 1e-3  # seconds after which a live source has nothing more to say for now: a program that writes on
# and on, such as cat, is never that late, so that its lines are read in large blocks
_FINGERPRINT = 1 << 16  # bytes


def expand(given: Sequence[str | Path]) -> list[str]:
    """The files, with patterns expanded in alphabetical order; each must exist."""
    if not given:
        raise InputError("no input: name a file, several, a pattern, or - for standard input")
    paths = []
    for name in map(str, given):
        if name == STANDARD_INPUT or Path(name).exists():
            paths.append(name)
            continue
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - it takes a pattern from anywhere
        if not matches:
            raise InputError(describe_missing(name))
        paths += matches
    for path in paths:
        if path != STANDARD_INPUT and Path(path).is_dir():
            raise InputError(f"{path}: is a folder; name the files in it, for example {path}/*")
    if paths.count(STANDARD_INPUT) > 1:
        raise InputError("standard input (-) can be read only once")
    return paths


def describe_missing(name: str) -> str:
    """Why a name matches no file, and what may have been meant."""
    if glob.has_magic(name):
        return (
            f"{name}: no file matches this pattern. It came here unexpanded because the shell found none "
            f"either, or because it was quoted; look with ls, from this folder ({Path.cwd()})"
        )
    folder = Path(name).parent
    if not folder.is_dir():
        return f"{name}: there is no such file, and no folder {str(folder)!r}"
    stem, _, suffix = Path(name).name.lower().partition(".")
    stems: dict[str, list[Path]] = {}  # alike suffixes say little
    for path in sorted(folder.iterdir()):
        stems.setdefault(path.name.lower().partition(".")[0], []).append(path)
    beside = closest(stem, stems)
    if beside is None:
        return f"{name}: there is no such file"
    suffixes = {path: path.name.lower().partition(".")[2] for path in stems[beside]}
    meant = max(suffixes, key=lambda path: (suffixes[path] == suffix, suffixes[path].startswith(suffix)))
    return f"{name}: there is no such file; did you mean {str(meant)!r}?"


def once_only(path: str) -> bool:
    """Whether the bytes can be read only once, as those of pipes."""
    return path == STANDARD_INPUT or not Path(path).is_file()


def fingerprint(path: str) -> tuple[int, str]:
    """The size of a file, and a digest of its beginning and its end: enough to know it again."""
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        parts = file.read(_FINGERPRINT)
        file.seek(max(size - _FINGERPRINT, 0))
        return size, hashlib.blake2b(parts + file.read(), digest_size=16).hexdigest()


class _UnseekableFile(io.RawIOBase):
    """A file that cannot seek, with its first bytes put back."""

    def __init__(self, file: Any, head: bytes, *, closes: bool) -> None:
        self._file = file
        self._head = head
        self._closes = closes
        self.taken = 0
        """Bytes read so far."""

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._file.fileno())

    @property
    def waiting(self) -> bool:
        """Whether there are bytes that were put back."""
        return bool(self._head)

    def readinto(self, buffer: Any) -> int:
        part = self._head[: len(buffer)] or self._file.read(len(buffer))
        self._head = self._head[len(buffer) :]
        if part is None:
            raise BlockingIOError("it is non-blocking and has no data right now; pipe it through cat")
        buffer[: len(part)] = part
        self.taken += len(part)
        return len(part)

    def close(self) -> None:
        if self._closes:
            self._file.close()
        super().close()


class Source:
    """One open file. `read` returns its bytes, decompressed; `position` is how far the file is read."""

    _leased = False
    live = False
    """Whether lines are read as they come, so that what is peeked at depends on the moment."""
    encoding: str | None = None
    """The encoding of the file, if that is not UTF-8 without a mark."""
    sheet = False
    """Whether it is a spreadsheet, read as CSV."""
    note: str | None = None
    """What the user should be told about the file."""
    beginning: bytes
    """The first bytes as they are in the file, which show how it is compressed."""

    def __init__(self, path: str, encoding: str | None = None) -> None:
        self.path = "standard input" if path == STANDARD_INPUT else path
        self._regular = not once_only(path)
        self._ahead = b""
        self._ended = False
        self.live = _live and not self._regular
        try:
            # Unbuffered where reading may block: a buffer would be locked meanwhile, and not be closed.
            if path == STANDARD_INPUT:
                self._file: Any = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
            else:
                self._file = Path(path).open("rb", -1 if self._regular else 0)  # noqa: SIM115 - see `close`
            self._state = self._stat()
            head = b""
            while len(head) < _HEAD and (part := self._file.read(_HEAD - len(head))):
                head += part  # a pipe may return them one by one
                if self.live and b"\n" in head and not head.startswith(_COMPRESSED):
                    break
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror}") from None
        self.beginning = head
        if self._regular:
            self._file.seek(0)
        else:
            self._file = _UnseekableFile(self._file, head, closes=path != STANDARD_INPUT)
        try:
            self._stream = self._as_text(self._opened(head), head, encoding)
        except InputError:
            self.close()
            raise

    @property
    def size(self) -> int | None:
        """The size of the file in bytes; None if it is not known beforehand."""
        return self._state[0] if self._regular else None

    @property
    def position(self) -> int:
        return int(self._file.tell() if self._regular else self._file.taken)

    @property
    def exhausted(self) -> bool:
        """Whether the end has been read."""
        return self._ended and not self._ahead

    def read(self, count: int) -> bytes:
        """The next bytes; fewer than asked for only at the end, or where a live source has no more lines."""
        parts = [self._ahead[:count]] if self._ahead else []
        self._ahead = self._ahead[count:]
        wanted = count - sum(map(len, parts))
        while wanted > 0 and not (self.live and any(b"\n" in part for part in parts) and not self.readable()):
            part = self._more(self._stream.read, wanted)
            if not part:
                break
            parts.append(part)
            wanted -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_into(self, buffer: memoryview) -> int:
        """Like `read`, into a buffer; returns how many bytes there were."""
        ahead = self.read(min(len(self._ahead), len(buffer)))
        count = len(ahead)
        buffer[:count] = ahead
        while count < len(buffer) and not (self.live and count and not self.readable()):
            more = self._more(self._stream.readinto, buffer[count:])
            if not more:
                break
            count += more
        return count

    def readable(self) -> bool:
        """Whether a live source has more bytes at once, or the end. Compressed ones always say so."""
        if self._stream is not self._file or self._file.waiting:
            return True
        try:
            return bool(select.select([self._file], [], [], PATIENCE)[0])
        except (OSError, ValueError):  # nothing that can be waited for
            return True

    def peek(self, count: int) -> bytes:
        """The next bytes, which `read` will return again."""
        peeked = self.read(count)
        self._ahead = peeked + self._ahead
        return peeked

    def close(self) -> None:
        self._file.close()

    def _more(self, read: Callable[[Any], Any], wanted: Any) -> Any:
        """What `read` returns; nothing at the end."""
        try:
            found = read(wanted)
        except _DAMAGED as error:
            raise InputError(
                f"{self.path}: cannot be read to its end, it seems damaged or cut off ({error}); get a "
                "whole copy of it"
            ) from None
        self._ended = not found
        if self._ended:
            self.check()
        return found

    def lease(self) -> bool:
        """Keep other programs from changing the file until it is closed; False if that is not possible."""
        self._leased = self._regular and leases.take(self._file.fileno())
        return self._leased

    def check(self) -> None:
        """Refuse a file that has changed since it was opened, or that another program waits to change."""
        if self._regular and self._stat() != self._state:
            changed = "has changed while it was read"
        elif self._leased and leases.wanted_back(self._file.fileno()):
            changed = "another program is about to change it"
        else:
            return
        raise InputError(
            f"{self.path}: {changed}; work on a copy, or pipe it in: cat {self.path} | steelyard … -"
        )

    def _stat(self) -> tuple[int, int]:
        if not self._regular:
            return 0, 0
        found = os.fstat(self._file.fileno())
        return found.st_size, found.st_mtime_ns

    def _as_text(self, stream: Any, head: bytes, given: str | None) -> Any:
        """The stream itself; if it is a workbook or in another encoding, as UTF-8."""
        self._stream = stream
        if stream is not self._file:
            head = self.peek(_HEAD)
        if head.startswith(transcoding.ZIP):
            file = stream
            if stream is not self._file or not self._regular:  # it is read from its end
                file = io.BytesIO(b"".join(iter(lambda: self.read(1 << 20), b"")))
            self._ahead = b""
            if not transcoding.is_workbook(file):
                return file
            found = transcoding.SheetText(file, self.path)
            self.sheet, self.note = True, found.note
            return found
        self.encoding = transcoding.encoding_of(head, given)
        if self.encoding is None or self.encoding == "utf-8-sig":  # of which readers drop the mark
            return stream
        rest = _UnseekableFile(stream, self._ahead, closes=False)
        self._ahead = b""
        return transcoding.DecodedText(rest, self.encoding, self.path)

    def _opened(self, head: bytes) -> Any:
        if head.startswith(b"\x1f\x8b"):
            return gzip.GzipFile(fileobj=self._file)
        if head.startswith(b"\xfd7zXZ\x00"):
            return lzma.LZMAFile(self._file)
        if head.startswith(b"BZh") and head[4:] in _BZIP2:
            return bz2.BZ2File(self._file)
        if head.startswith(b"\x28\xb5\x2f\xfd"):
            try:
                import pyarrow
            except ImportError:
                raise InputError(f'{self.path}: zstd needs pyarrow: pip install "steelyard[arrow]"') from None
            return pyarrow.CompressedInputStream(self._file, "zstd")
        return self._file


@contextmanager
def live(wanted: bool = True) -> Iterator[None]:
    """Read pipes and terminals, if wanted, as their lines come, not in blocks of a fixed size."""
    global _live
    before, _live = _live, wanted
    try:
        yield
    finally:
        _live = before


_live = False


@contextmanager
def open_source(path: str, encoding: str | None = None) -> Iterator[Source]:
    """A source while it is needed; one that can be read only once stays open to its end."""
    if not once_only(path):
        source = Source(path, encoding)
        try:
            yield source
        finally:
            source.close()
        return
    key = path, sys.stdin if path == STANDARD_INPUT else None
    if key not in _kept:
        _kept[key] = Source(path, encoding)
    yield _kept[key]
    if _kept[key].exhausted:
        _kept.pop(key).close()


_kept: dict[tuple[str, Any], Source] = {}
