"""JSON lines: one object per line, whose keys are the columns."""

import re
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from steelyard.io import columns as roles
from steelyard.io.errors import InputError
from steelyard.io.formats import SNIFFED, Head, TableOverrides, TextTable, require_label

if TYPE_CHECKING:
    from steelyard.features.names import Names
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader

_DOCUMENT = re.compile(rb"\s*(\[\s*(\{|\Z)|\{\s*(\n|\Z))")


class Jsonl(TextTable):
    name = "jsonl"
    suffixes = (".jsonl", ".ndjson")
    order = 20

    def recognise(self, head: Head) -> bool:
        check_no_document(head)
        return all(line.lstrip().startswith(b"{") for line in head.lines)

    def complete(self, spec: "InputSpec", head: Head, overrides: TableOverrides) -> "InputSpec":
        from steelyard.io import jsonl_reader

        check_no_document(head)
        return replace(spec, columns=jsonl_reader.infer_columns(head.source, overrides.columns))

    def head_labels(self, spec: "InputSpec", head: Head) -> list[str]:
        from steelyard.io import jsonl_reader

        return jsonl_reader.head_labels(head.source, require_label(spec, head.path))

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.jsonl_reader import JsonReader

        return JsonReader(spec, names)

    def fits(self, spec: "InputSpec", head: Head) -> bool:
        from steelyard.io import jsonl_reader

        check_no_document(head)
        return bool(jsonl_reader.head_objects(head.source))

    def adapt(self, spec: "InputSpec", head: Head, model: str) -> "InputSpec | None":
        from steelyard.io import jsonl_reader

        if spec.columns is None:
            return super().adapt(spec, head, model)
        if spec.format != self.name:  # the reader would not complain of an absent key
            keys = [key for row in jsonl_reader.head_objects(head.source) for key in row]
            roles.require(spec.columns.features, keys, head.source.path)
        return replace(spec, format=self.name, dialect=None)


def check_no_document(head: Head) -> None:
    """Refuse JSON that is one array, or one object over many lines, instead of one object per line."""
    path = head.source.path
    found = _DOCUMENT.match(head.source.peek(SNIFFED).removeprefix(b"\xef\xbb\xbf"))
    if found is None:
        return
    array = found[0].lstrip().startswith(b"[")
    what, parts = ("array", ".[]") if array else ("object over many lines", ".")
    lines = PurePath(path).with_suffix(".lines.jsonl").name  # never the file itself
    raise InputError(
        f"{path}: is one JSON {what}, and JSON lines have one object per line: "
        f"jq -c '{parts}' {path} > {lines}"
    )
