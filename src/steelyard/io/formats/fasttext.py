"""fastText's text: `__label__spam some words …`, one document per line, read as a label and a text."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from steelyard.io import columns as roles
from steelyard.io.columns import Column, Columns
from steelyard.io.errors import InputError
from steelyard.io.formats import SNIFFED, Format, Head, TableOverrides, by_suffix
from steelyard.io.formats.text_tables import TextTable

if TYPE_CHECKING:
    from steelyard.features import Names
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader

PREFIX = b"__label__"
_LABEL = re.compile(rb"(?:^| )" + PREFIX)  # behind a tab or comma it is a cell of a table
COLUMNS = Columns((Column("label", roles.LABEL), Column("text", roles.TEXT)))


class FastText(Format):
    """A line has labels at its beginning or end, or none; of several the first counts."""

    name = "fasttext"
    suffixes: ClassVar[tuple[str, ...]] = ()
    order = 25

    def recognise(self, head: Head) -> bool:
        return any(_LABEL.search(line) for line in head.lines)

    def complete(self, spec: "InputSpec", head: Head, overrides: TableOverrides) -> "InputSpec":
        if overrides != TableOverrides():
            raise InputError(
                f"{head.path}: lines of fastText have a label and a text, and no columns to give roles to"
            )
        return replace(spec, columns=COLUMNS)

    def head_labels(self, spec: "InputSpec", head: Head) -> list[str]:
        from steelyard.io.fasttext_reader import split

        start = head.source.peek(SNIFFED)
        found = (split(line)[0].decode("utf-8", "replace") for line in start.splitlines()[:-1] or [start])
        return COLUMNS.present(found)

    def label_sets(self, spec: "InputSpec", path: str) -> Iterator[set[str]]:
        return TextTable.label_sets(self, spec, path)  # type: ignore[arg-type]

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.fasttext_reader import FastTextReader

        return FastTextReader(spec, names)

    def fits(self, spec: "InputSpec", head: Head) -> bool:
        """Lines with labels; or without, as for fastText's predict, where nothing says otherwise."""
        if self.recognise(head):
            return True
        return by_suffix(head.path) is None and not all(line.startswith(b"{") for line in head.lines)

    def adapt(self, spec: "InputSpec", head: Head, model: str) -> "InputSpec | None":
        """Adapt a model of tables that has learned nothing but one text."""
        if spec.columns is None or len(spec.columns.features) != 1 or not spec.columns.with_role(roles.TEXT):
            return None
        return replace(spec, format=self.name, dialect=None)
