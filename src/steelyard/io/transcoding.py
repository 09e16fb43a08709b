"""Text in other encodings, and spreadsheets, as the UTF-8 text that readers take.

A spreadsheet becomes CSV: its first sheet, one record for each row, so that the line of an error is the row
of the sheet. Empty rows become blank lines, which readers pass over.
"""

import codecs
import io
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from typing import Any

from steelyard._parameters import Parameter
from steelyard.io.csv_text import csv_line
from steelyard.io.errors import InputError

ZIP = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"} | {
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"
}  # fmt: skip
_BINARY = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", ZIP)
_AT_ONCE = 1 << 18
_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")


def encoding_of(head: bytes, given: str | None) -> str | None:
    """The encoding of a file that begins so: by its mark, else as given. None: it need not be decoded."""
    if head.startswith(_BINARY):
        return None
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), given)


def check_encoding(name: str) -> str | None:
    """The name of an encoding, made canonical; None for UTF-8, which is read as it is."""
    try:
        found = codecs.lookup(name)
        "".encode(name)  # refuses those that make no text, such as base64
    except LookupError:
        raise InputError(
            Parameter("encoding", name), ": there is no such encoding; usual are latin-1, cp1252, utf-16, "
            "mac-roman, shift_jis, gb18030",
        ) from None  # fmt: skip
    return None if found.name == "utf-8" else found.name


def _is_utf8(part: bytes) -> bool:
    """Whether there are letters beyond ASCII in it, and all of them are UTF-8: no accident."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(part)
    except UnicodeDecodeError:
        return False
    return not part.isascii()


class _Utf8(io.RawIOBase):
    """Bytes that are made piece by piece."""

    _ready = b""

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            more = self._more()
            if more is None:
                return 0
            self._ready = more
        part = self._ready[: len(buffer)]
        self._ready = self._ready[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def _more(self) -> bytes | None:
        """The next piece, which may be empty; None at the end."""
        raise NotImplementedError


class DecodedText(_Utf8):
    """Text in another encoding, as UTF-8."""

    def __init__(self, stream: Any, encoding: str, path: str) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ended = self._begun = False

    def _more(self) -> bytes | None:
        if self._ended:
            return None
        part = self._stream.read(_AT_ONCE)
        self._ended = not part
        if not self._begun and _is_utf8(part) and not self._encoding.startswith("utf"):
            said = f"{self._path}: is in UTF-8, not in {self._encoding}: say "
            raise InputError(said, Parameter("encoding", "utf-8"))
        self._begun = True
        try:
            return self._decoder.decode(part, final=self._ended).encode()
        except UnicodeError as error:
            said = f"{self._path}: is not all {self._encoding} text ({error}); "
            raise InputError(said, Parameter("encoding"), " says what it is") from None


class SheetText(_Utf8):
    """The first sheet of a workbook as CSV. `note` says which of several it is."""

    def __init__(self, file: Any, path: str) -> None:
        book = import_openpyxl(path).load_workbook(file, read_only=True, data_only=True)
        sheet, *others = book.worksheets
        names = ", ".join(repr(other.title) for other in others)
        self.note = f"{path}: the first sheet is read, {sheet.title!r}, not {names}" if others else None
        self._rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(values_only=True)
        self._width = 0

    def _more(self) -> bytes | None:
        row = next(self._rows, None)
        if row is None:
            return None
        cells = [cell_text(value) for value in row]
        while len(cells) > self._width and not cells[-1].strip():
            cells.pop()
        if not any(map(str.strip, cells)):
            return b"\n"
        self._width = self._width or len(cells)  # of the header
        cells += [""] * (self._width - len(cells))
        return f"{csv_line(cells)}\n".encode()


def cell_text(value: Any) -> str:
    """A cell as text: dates as in ISO 8601, without a time where there is none; errors are missing."""
    if value is None or (isinstance(value, str) and value in _ERRORS):
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    return str(value)


def is_workbook(file: Any) -> bool:
    """Whether a zip archive is one; it is read from its beginning again."""
    try:
        with zipfile.ZipFile(file) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False
    finally:
        file.seek(0)


def import_openpyxl(path: str) -> Any:
    """The module, if it is installed."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(f'{path}: Excel files need openpyxl: pip install "steelyard[excel]"') from None
    return openpyxl
