"""Text in other encodings and sheets of workbooks are read as the same table in UTF-8."""

import gzip
import io
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from steelyard.io import formats, sources, transcoding
from steelyard.io.errors import InputError
from steelyard.io.read_options import ReadOptions
from steelyard.io.stream import Stream

TEXT = "name,y\n" + "Jürgen,1\nZoë,0\n" * 3
openpyxl = pytest.importorskip("openpyxl")


def workbook(path: Path, *rows: list[Any], more: str = "") -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if more:
        book.create_sheet(more)
    book.save(path)
    return path


def text_of(path: Path, encoding: str | None = None) -> str:
    with sources.open_source(str(path), encoding) as source:
        return b"".join(iter(lambda: source.read(7), b"")).decode()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-16", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings(tmp_path: Path, encoding: str, packed: bool) -> None:
    path = tmp_path / "rows.csv"
    content = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    marked = encoding in ("utf-16", "utf-32", "utf-8-sig")  # which need not be told
    assert text_of(path, None if marked else encoding).removeprefix("\ufeff") == TEXT
    with formats.open_head(str(path), None if marked else encoding) as head:
        assert head.source.encoding == encoding
    spec, labels = ReadOptions(label="y", encoding=None if marked else encoding).infer([str(path)], "float32")
    assert labels == ["0", "1"]
    stream = Stream([path], spec.reader(), encoding=spec.encoding)
    assert sum(len(parsed.examples) for parsed in stream) == 6


def test_the_labels_of_a_whole_file_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("label,x\nfür,1\ngegen,2\n".encode("latin-1"))
    spec, _ = ReadOptions(encoding="latin-1").infer([str(path)], "float32")
    assert "für" in set().union(*formats.by_name("csv").label_sets(spec, str(path)))


def test_what_is_not_in_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,y\n\xe9,1\n")
    with pytest.raises(InputError, match=r"rows.csv: is not all ascii text .* `encoding` says what it is"):
        text_of(path, "ascii")
    with pytest.raises(InputError, match="line 2: not UTF-8 text; `encoding` says what it is"):
        list(Stream([path], ReadOptions(label="y").infer([str(path)], "float32")[0].reader()))


def test_utf8_that_is_taken_for_something_else(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("label,x\nfür,1\ngegen,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="is in UTF-8, not in iso8859-1: say encoding='utf-8'"):
        ReadOptions(encoding="latin-1").infer([str(path)], "float32")


def test_names_of_encodings(tmp_path: Path) -> None:
    assert transcoding.check_encoding("UTF8") is None
    assert transcoding.check_encoding("Latin1") == "iso8859-1"
    for name in ("klingon", "base64"):
        with pytest.raises(InputError, match=f"encoding={name!r}: there is no such encoding; usual are"):
            transcoding.check_encoding(name)
    path = workbook(tmp_path / "rows.xlsx", ["a", "y"], [1, 0], [2, 1])
    with pytest.raises(InputError, match="`encoding` is for text, and the files are excel"):
        ReadOptions(encoding="latin-1").infer([str(path)], "float32")


ROWS: list[list[Any]] = [
    ["when", "what", "much", "y", None],
    [date(2024, 5, 1), "a, b", 1.5, True],
    [],
    [datetime(2024, 5, 2, 12, 30), 'say "x"\nnow', 7, False],
    [None, " ", "#N/A", 1],
]
AS_CSV = (
    'when,what,much,y\n2024-05-01,"a, b",1.5,TRUE\n\n2024-05-02 12:30:00,"say ""x""\nnow",7,FALSE\n, ,,1\n'
)


@pytest.mark.parametrize("name", ["rows.xlsx", "rows.csv", "rows", "rows.xlsx.gz"])
def test_sheets(tmp_path: Path, name: str) -> None:
    path = workbook(tmp_path / "book.xlsx", *ROWS, more="notes")
    path = path.rename(tmp_path / name)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert text_of(path) == AS_CSV
    with formats.open_head(str(path)) as head:
        assert head.source.note == f"{path}: the first sheet is read, 'Sheet', not 'notes'"
        assert formats.identify(str(path), head).name == "excel"
    spec, labels = ReadOptions(label="much").infer([str(path)], "float32")
    assert (spec.format, labels) == ("excel", ["1.5", "7"])
    stream = Stream([path], spec.reader())
    assert sum(len(parsed.examples) for parsed in stream) == 3
    assert stream.remarks == {head.source.note}


def test_a_sheet_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = workbook(tmp_path / "book.xlsx", *ROWS).read_bytes()

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Pipe(content)})())
    with sources.open_source("-") as source:
        assert source.read(1000).decode() == AS_CSV
        assert source.note is None
        assert source.read(1) == b""


def test_without_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "book.xlsx", *ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"book.xlsx: Excel files need openpyxl: pip install"):
        text_of(path)


def test_a_damaged_workbook(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(workbook(tmp_path / "whole.xlsx", *ROWS).read_bytes()[:1000])
    with pytest.raises(InputError, match="is a zip archive and no Excel workbook"):
        formats.identify(str(path.rename(tmp_path / "rows")))
