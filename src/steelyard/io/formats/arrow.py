"""Arrow IPC (Feather) and Parquet: ordinary columns, or the sparse rows that `steelyard convert` writes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from steelyard.io import columns as roles
from steelyard.io import sources
from steelyard.io.columns import Column, Columns
from steelyard.io.formats import Format, Head, TableOverrides, require_label
from steelyard.io.labels import LabelRule, distinct_numbers, plain

if TYPE_CHECKING:
    from steelyard.features import Names
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader

_LABEL_BYTES = 1 << 20  # read at once to collect labels
_HEAD_ROWS = 1000


class Arrow(Format):
    name = "arrow"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc")
    order = 11
    binary = True
    table = True
    _MAGIC: ClassVar[tuple[bytes, ...]] = (b"ARROW1", b"\xff\xff\xff\xff")

    def recognise(self, head: Head) -> bool:
        return head.source.peek(8).startswith(self._MAGIC)

    def complete(self, spec: "InputSpec", head: Head, overrides: TableOverrides) -> "InputSpec":
        """The roles of ordinary columns; for converted files, for how many features they are made."""
        from steelyard.io import arrow_columns, arrow_csr, input_spec

        rows = _first_rows(head)
        if not arrow_csr.is_sparse(rows.schema):
            return replace(spec, columns=arrow_columns.infer_columns(rows, overrides.columns))
        header = arrow_csr.read_header(rows.schema.metadata, head.path)
        if header is None or header.bits is None:
            return spec
        original = input_spec.stored_in(head.path, header.reading) if header.reading else None
        spec = replace(spec, bits=header.bits, original=original)
        if original is not None and original.label_rule is not None and len(original.label_rule.names) > 2:
            codes = original.label_rule.values  # which are in the file, and are classes, not numbers
            spec = replace(spec, label_rule=LabelRule(tuple(map(plain, codes)), codes))
        return spec

    def head_labels(self, spec: "InputSpec", head: Head) -> list[str]:
        from steelyard.io import arrow_columns, arrow_csr

        rows = _first_rows(head)
        if spec.columns is not None:
            return arrow_columns.head_labels(rows, require_label(spec, head.path))
        block = arrow_csr.ArrowBlock(head.path, arrow_csr.NO_TEXT, 0, rows=rows)
        return distinct_numbers(arrow_csr.parse(block, spec.features).examples.labels[:_HEAD_ROWS])

    def label_sets(self, spec: "InputSpec", path: str) -> Iterator[set[str]]:
        from steelyard.io import arrow_columns, arrow_csr, arrow_reader

        sparse = Columns((Column(arrow_csr.LABEL, roles.LABEL),))
        columns = sparse if spec.columns is None else require_label(spec, path)
        (name,) = columns.with_role(roles.LABEL)
        with sources.open_source(path) as source:
            for batch in arrow_reader.read_batches(source, _LABEL_BYTES, [name]):
                if batch.rows is not None and name in batch.rows.schema.names:
                    yield set(columns.present(arrow_columns.distinct(batch.rows.column(name))))

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.arrow_columns import ArrowColumns
        from steelyard.io.arrow_reader import ArrowReader

        columns = None if spec.columns is None else ArrowColumns(spec, names)
        return ArrowReader(spec.features, columns)

    def fits(self, spec: "InputSpec", head: Head) -> bool:
        """Arrow and Parquet are alike; but ordinary columns and sparse rows are not."""
        return (spec.columns is None) == _is_sparse(head)

    def adapt(self, spec: "InputSpec", head: Head, model: str) -> "InputSpec | None":
        from steelyard.io import compatibility
        from steelyard.io.input_spec import InputSpec

        if not _is_sparse(head):
            return None if spec.columns is None else replace(spec, format=self.name, dialect=None)
        made = compatibility.check_converted(head, spec, model)
        if made is None:
            return None
        rule = spec.label_rule
        if made.label_rule is not None and rule is not None:  # the file has the numbers made of names
            rule = LabelRule(tuple(map(plain, made.label_rule.values)), rule.values)
        return InputSpec(self.name, spec.bits, label_rule=rule, dtype=spec.dtype, original=made)


class Parquet(Arrow):
    name = "parquet"
    suffixes = (".parquet", ".pq")
    order = 10
    _MAGIC = (b"PAR1",)


def _first_rows(head: Head) -> Any:
    """The first rows, read once."""
    from steelyard.io import arrow_reader

    if head.rows is None:
        head.rows = arrow_reader.read_head(head.source)
    return head.rows


def _is_sparse(head: Head) -> bool:
    from steelyard.io import arrow_csr, arrow_reader

    return arrow_csr.is_sparse(arrow_reader.read_schema(head.source))
