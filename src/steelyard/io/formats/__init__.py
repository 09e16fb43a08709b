"""The formats of files: each is one class in a module of this package, found by name, suffix or content.

To add a format, add a module with a subclass of `Format`. Modules here are light: readers and pyarrow
are imported when they are used.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from steelyard._parameters import Parameter
from steelyard.io import columns as roles
from steelyard.io import sources
from steelyard.io.columns import ColumnOverrides, Columns
from steelyard.io.errors import InputError
from steelyard.io.sources import COMPRESSED_SUFFIXES, STANDARD_INPUT, Source
from steelyard.io.transcoding import OLD_EXCEL, ZIP

if TYPE_CHECKING:
    from steelyard.features import Names
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader

SNIFFED = 1 << 16  # bytes from which a format is recognised
_BEGINNING = 16
_SNIFFED_LINES = 50
MARK = b"\xef\xbb\xbf"  # some programs begin UTF-8 files with it
_MODEL = re.compile(rb".{4}\0{4}\{", re.DOTALL)  # the length of the JSON header, and its beginning


@dataclass(frozen=True)
class TableOverrides:
    """What the user says about tables: the roles of columns, and how a delimited file is written."""

    columns: ColumnOverrides = field(default_factory=ColumnOverrides)
    separator: str | None = None
    header: bool | None = None


class Head:
    """The beginning of a file, which is opened once to see what it is, and which will be read again."""

    def __init__(self, path: str, source: Source) -> None:
        self.path = path
        self.source = source
        self.rows: Any = None
        """The first rows of an Arrow table, once they are read."""

    @cached_property
    def lines(self) -> list[bytes]:
        """Some first lines that are not blank; without the last one if it may be cut off."""
        start = self.source.peek(SNIFFED)
        found = [line for line in start.removeprefix(MARK).splitlines()[:_SNIFFED_LINES] if line.strip()]
        return found[:-1] if len(found) > 1 and len(start) == SNIFFED else found

    @property
    def first_line(self) -> bytes:
        """The first line that is not blank; nothing where all are."""
        return next(iter(self.lines), b"")

    @cached_property
    def binary(self) -> "Format | None":
        """The binary format that the first bytes show."""
        return next((each for each in _formats() if each.binary and each.recognise(self)), None)

    def check_text(self) -> None:
        """Refuse archives, models and other binary files, by their first bytes."""
        start, path = self.source.peek(_BEGINNING), self.source.path
        if start.startswith(ZIP):
            raise InputError(f"{path}: is a zip archive and no Excel workbook; unpack it, or save it as CSV")
        if start.startswith(OLD_EXCEL):
            raise InputError(f"{path}: is an Excel file of the old kind; save it as .xlsx or CSV")
        if _MODEL.match(start):
            raise InputError(f"{path}: is a model, and has no rows")
        if b"\0" in start:
            raise InputError(f"{path}: is not text, as its first bytes show, and neither Parquet nor Arrow")


@contextmanager
def open_head(path: str, encoding: str | None = None) -> Iterator[Head]:
    with sources.open_source(path, encoding) as source:
        yield Head(path, source)


class Format:
    """A format of files."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    order: ClassVar[int]
    """Formats are tried in this order until one recognises a file; the last accept whatever is left."""
    binary: ClassVar[bool] = False
    """Whether it is not text."""
    table: ClassVar[bool] = False
    """Whether it can have columns, whose roles are inferred."""
    crosses: ClassVar[bool] = True
    """Whether features have columns or namespaces, which interactions name."""
    namespaces: ClassVar[bool] = False
    """Whether they have namespaces, of which options of Vowpal Wabbit speak."""

    def recognise(self, head: Head) -> bool:
        """Whether a file looks like this format."""
        raise NotImplementedError

    def complete(self, spec: "InputSpec", head: Head, overrides: TableOverrides) -> "InputSpec":
        """The spec for a file, with what can only be inferred from its content."""
        return spec

    def head_labels(self, spec: "InputSpec", head: Head) -> list[str]:
        """The different labels of the first rows, as they are written, sorted."""
        raise NotImplementedError

    def label_sets(self, spec: "InputSpec", path: str) -> Iterator[set[str]]:
        """The different labels of each part of a file."""
        raise NotImplementedError

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        """The reader; `names` collects the names of features."""
        raise NotImplementedError

    def fits(self, spec: "InputSpec", head: Head) -> bool:
        """Whether the file can be read by this spec, one of this format; single lines may be wrong."""
        raise NotImplementedError

    def adapt(self, spec: "InputSpec", head: Head, model: str) -> "InputSpec | None":
        """How to read a file of this format for a model that has learned files read by another spec.

        None if its features have other names. If it should fit but does not, the spec is returned: the
        reader then says what is wrong with which line.
        """
        return spec if spec.format == self.name or by_name(spec.format).fits(spec, head) else None


def require_label(spec: "InputSpec", path: str) -> Columns:
    """The columns, one of which must be the label."""
    assert spec.columns is not None
    if not spec.columns.with_role(roles.LABEL):
        names = ", ".join(spec.columns.names)
        raise InputError(
            f"{path}: Which column should be predicted? Use ", Parameter("label", "NAME"), f"; there are {names}"
        )  # fmt: skip
    return spec.columns


@cache
def _formats() -> tuple[Format, ...]:
    """All formats, in the order in which they are tried."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted((kind() for kind in _subclasses(Format)), key=lambda each: each.order))


def _subclasses(kind: type[Format]) -> Iterator[type[Format]]:
    for each in kind.__subclasses__():
        if hasattr(each, "name"):
            yield each
        yield from _subclasses(each)


def names() -> tuple[str, ...]:
    return tuple(sorted(each.name for each in _formats()))


def by_name(name: str) -> Format:
    return next(each for each in _formats() if each.name == name)


def by_suffix(path: str) -> Format | None:
    """The format by the suffix of a path, apart from that of compression."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        suffixes.pop()
    return next((each for each in _formats() if suffixes and suffixes[-1] in each.suffixes), None)


def sniff(head: Head) -> Format:
    """The format that the first bytes or lines show."""
    if head.binary is not None:
        return head.binary
    head.check_text()
    if not head.lines:
        raise InputError(f"{head.source.path}: is empty")
    return next(each for each in _formats() if not each.binary and each.recognise(head))


def identify(path: str, head: Head | None = None, encoding: str | None = None) -> Format:
    """The format of one file: by its suffix, else by its content."""
    known = by_suffix(path)
    if known is not None and (head is None or not head.source.sheet):
        return known
    if head is not None:
        return sniff(head)
    with open_head(path, encoding) as head:
        return sniff(head)


def identify_all(paths: Sequence[str], first: Head) -> Format:
    """The one format of several files, of which the first is open. Standard input has that of the others."""
    named = [path for path in paths if path != STANDARD_INPUT]
    if not named:
        return sniff(first)
    encoding = first.source.encoding
    found = {path: identify(path, first if path == first.path else None, encoding) for path in named}
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{path} is {each.name}" for path, each in found.items())
        raise InputError(f"files of several formats cannot be read together: {listed}")
    return found[named[0]]
