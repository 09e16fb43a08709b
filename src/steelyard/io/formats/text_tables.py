"""Tables of text: CSV and TSV, with a header or without (semicolons and bars are recognised too); Excel,
whose sheets are read as CSV; and JSON lines, one object per line, whose keys are the columns.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from steelyard.io import columns as roles
from steelyard.io.columns import Column, Columns
from steelyard.io.errors import InputError
from steelyard.io.formats import MARK, SNIFFED, Format, Head, TableOverrides, require_label

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from steelyard.features import Names
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader

_SHORT = 7  # bytes of a cell that fit into a number, beside its size
_DOCUMENT = re.compile(rb"\s*(\[\s*(\{|\Z)|\{\s*(\n|\Z))")


class TextTable(Format):
    """A format of text with columns: what they have in common."""

    table = True

    def label_sets(self, spec: "InputSpec", path: str) -> Iterator[set[str]]:
        """Read with the label as the tag, which is kept as it is written, and without features."""
        from steelyard.io.stream import Stream

        columns = require_label(spec, path)
        only = {roles.LABEL: roles.TAG}
        ignoring = tuple(Column(one.name, only.get(one.role, roles.IGNORE)) for one in columns.columns)
        bare = replace(spec, columns=Columns(ignoring), interactions=(), label_rule=None)
        for parsed in Stream([path], bare.reader(), skip=True, encoding=spec.encoding):
            assert parsed.tags is not None
            cells = _distinct(parsed.block.text if parsed.text is None else parsed.text, parsed.tags)
            yield set(columns.present(cell.decode("utf-8", "replace") for cell in cells))


def _distinct(text: "NDArray[np.uint8]", spans: "NDArray[np.int32]") -> set[bytes]:
    """The different cells at these spans. Short ones are compared as numbers, all at once."""
    import numpy as np

    starts, sizes = spans[:, 0].astype(np.int64), spans[:, 1] - spans[:, 0]
    number = sizes.astype(np.uint64)
    for place in range(_SHORT):
        there = np.where(place < sizes, text[np.minimum(starts + place, len(text) - 1)], 0)
        number |= there.astype(np.uint64) << np.uint64(8 * (place + 1))
    _, chosen = np.unique(np.where(sizes <= _SHORT, number, 0), return_index=True)
    rows = np.concatenate([chosen, np.flatnonzero(sizes > _SHORT)])
    return {text[start:stop].tobytes() for start, stop in spans[rows].tolist()}


class Csv(TextTable):
    name = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    order = 60
    separator: ClassVar[str | None] = None
    """The separator of every file; None: each has its own."""

    def recognise(self, head: Head) -> bool:
        return True  # whatever is left

    def complete(self, spec: "InputSpec", head: Head, overrides: TableOverrides) -> "InputSpec":
        from steelyard.io import csv_reader

        dialect = csv_reader.infer_dialect(
            head.source, separator=self.separator or overrides.separator, header=overrides.header
        )
        columns = csv_reader.infer_columns(head.source, dialect, overrides.columns)
        return replace(spec, dialect=dialect, columns=columns)

    def head_labels(self, spec: "InputSpec", head: Head) -> list[str]:
        from steelyard.io import csv_reader

        assert spec.dialect is not None
        return csv_reader.head_labels(head.source, spec.dialect, require_label(spec, head.path))

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.csv_reader import DelimitedReader

        return DelimitedReader(spec, names)

    def fits(self, spec: "InputSpec", head: Head) -> bool:
        from steelyard.io import csv_reader

        assert spec.columns is not None
        assert spec.dialect is not None
        if Jsonl().recognise(head):  # whose keys may look like names of columns
            return False
        names = csv_reader.read_head(head.source, spec.dialect).names
        if not spec.dialect.header:
            return len(names) == len(spec.columns.names)
        return set(spec.columns.features) <= set(names)

    def adapt(self, spec: "InputSpec", head: Head, model: str) -> "InputSpec | None":
        from steelyard.io import csv_reader

        if spec.columns is None:
            return super().adapt(spec, head, model)
        header = spec.dialect is None or spec.dialect.header
        dialect = csv_reader.infer_dialect(head.source, separator=self.separator, header=header)
        return replace(spec, format=self.name, dialect=dialect)


class Tsv(Csv):
    name = "tsv"
    suffixes = (".tsv",)
    order = 50

    def recognise(self, head: Head) -> bool:
        return head.first_line.count(b"\t") > head.first_line.count(b",")


class Excel(Csv):
    name = "excel"
    suffixes = (".xlsx", ".xlsm")
    order = 5
    separator = ","

    def recognise(self, head: Head) -> bool:
        return head.source.sheet


class Jsonl(TextTable):
    name = "jsonl"
    suffixes = (".jsonl", ".ndjson")
    order = 20

    def recognise(self, head: Head) -> bool:
        _check_no_document(head)
        return head.first_line.lstrip().startswith(b"{")  # the reader says which of the others are none

    def complete(self, spec: "InputSpec", head: Head, overrides: TableOverrides) -> "InputSpec":
        from steelyard.io import jsonl_reader

        _check_no_document(head)
        return replace(spec, columns=jsonl_reader.infer_columns(head.source, overrides.columns))

    def head_labels(self, spec: "InputSpec", head: Head) -> list[str]:
        from steelyard.io import jsonl_reader

        return jsonl_reader.head_labels(head.source, require_label(spec, head.path))

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.jsonl_reader import JsonReader

        return JsonReader(spec, names)

    def fits(self, spec: "InputSpec", head: Head) -> bool:
        from steelyard.io import jsonl_reader

        _check_no_document(head)
        objects = list(islice(jsonl_reader.head_objects(head.source), 1))
        if (
            objects and spec.columns is not None and spec.columns.renamed
        ):  # by the user, who may have mistyped
            keys = [key for row in jsonl_reader.head_objects(head.source) for key in row]
            roles.require(spec.columns.renamed, keys, head.source.path)
        return bool(objects)

    def adapt(self, spec: "InputSpec", head: Head, model: str) -> "InputSpec | None":
        from steelyard.io import jsonl_reader

        if spec.columns is None:
            return super().adapt(spec, head, model)
        if spec.format != self.name:  # the reader would not complain of an absent key
            keys = [key for row in jsonl_reader.head_objects(head.source) for key in row]
            roles.require(spec.columns.features, keys, head.source.path)
        return replace(spec, format=self.name, dialect=None)


def _check_no_document(head: Head) -> None:
    """Refuse JSON that is one array, or one object over many lines, instead of one object per line."""
    path = head.source.path
    found = _DOCUMENT.match(head.source.peek(SNIFFED).removeprefix(MARK))
    if found is None:
        return
    array = found[0].lstrip().startswith(b"[")
    what, parts = ("array", ".[]") if array else ("object over many lines", ".")
    lines = PurePath(path).with_suffix(".lines.jsonl").name  # never the file itself
    raise InputError(
        f"{path}: is one JSON {what}, and JSON lines have one object per line: "
        f"jq -c '{parts}' {path} > {lines}"
    )
