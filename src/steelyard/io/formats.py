"""Which format a file has: by its suffix, or by a look at its first lines where the suffix does not say."""

import re
from pathlib import PurePath

from steelyard.io.errors import InputError
from steelyard.io.sources import COMPRESSED_SUFFIXES, STANDARD_INPUT, Source, opened

FORMATS = ("vw", "svmlight", "csv", "tsv", "jsonl", "arrow", "parquet")

_suffixes = {
    ".vw": "vw",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
    ".csv": "csv", ".tsv": "tsv",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip

_HEAD = 1 << 16
_BEGINNING = 16
_MODEL = re.compile(rb".{4}\0{4}\{", re.DOTALL)  # the length of what is said in JSON, and that
_SVMLIGHT = re.compile(rb"[-+]?[\d.eE+-]+(\s+qid:\d+)?(\s+\d+:\S+)*\s*(#.*)?")
_DOCUMENT = re.compile(rb"\s*(\[\s*(\{|\Z)|\{\s*(\n|\Z))")
_VW = re.compile(rb"[^|]*\|.*")


def format_of(path: str) -> str:
    """The format of one file. Standard input has to be looked at by whoever opens it."""
    told = by_suffix(path)
    if told is not None:
        return told
    with opened(path) as source:
        return sniffed(source)


def common_format(paths: list[str]) -> str | None:
    """The one format of several files; None for standard input, which is read once and sniffed then."""
    found = {path: format_of(path) for path in paths if path != STANDARD_INPUT}
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{path} is {name}" for path, name in found.items())
        raise InputError(f"files of several formats cannot be read together: {listed}")
    return next(iter(found.values()), None)


def sniffed(source: Source) -> str:
    """By the first lines, which stay to be read."""
    head = source.peek(_HEAD)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    check_text(source)
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()[:50] if line.strip()]
    if len(lines) > 1 and len(head) == _HEAD:
        lines.pop()  # which may be cut off
    if not lines:
        raise InputError(f"{source.path}: is empty")
    check_no_document(source)
    if all(line.lstrip().startswith(b"{") for line in lines):
        return "jsonl"
    if all(_SVMLIGHT.fullmatch(line) for line in lines if not line.startswith(b"#")):
        return "svmlight"
    if all(_VW.fullmatch(line) for line in lines):
        return "vw"
    return "tsv" if lines[0].count(b"\t") > lines[0].count(b",") else "csv"


def check_text(source: Source) -> None:
    """Refuse what spreadsheets save, what is not unpacked, and what is no text, by its first bytes."""
    head = source.peek(_BEGINNING)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{source.path}: is UTF-16; make UTF-8 of it first (iconv -f utf-16 -t utf-8)")
    if head.startswith(b"PK\x03\x04"):
        raise InputError(f"{source.path}: is a zip archive, or a spreadsheet; unpack it, or save it as CSV")
    if _MODEL.match(head):
        raise InputError(f"{source.path}: is a model, and has no rows")
    if b"\0" in head:
        raise InputError(f"{source.path}: is no text, as its first bytes show, and neither Parquet nor Arrow")


def check_no_document(source: Source) -> None:
    """Refuse JSON that is one array, or one object over many lines: what is wanted is an object a line."""
    found = _DOCUMENT.match(source.peek(_HEAD).removeprefix(b"\xef\xbb\xbf"))
    if found is None:
        return
    array = found[0].lstrip().startswith(b"[")
    what, parts = ("array", ".[]") if array else ("object over many lines", ".")
    lines = PurePath(source.path).with_suffix(".lines.jsonl").name  # never the file itself
    raise InputError(
        f"{source.path}: is one JSON {what}, and JSON lines have an object a line: "
        f"jq -c '{parts}' {source.path} > {lines}"
    )


def by_suffix(path: str) -> str | None:
    """The format that the suffix says; that of compression does not count."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        suffixes.pop()
    return _suffixes.get(suffixes[-1]) if suffixes else None
