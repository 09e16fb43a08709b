"""CSV and TSV: delimited text, with a header or without. Semicolons and bars are recognised too."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from steelyard.io.formats import Head, TableOverrides, TextTable, require_label

if TYPE_CHECKING:
    from steelyard.features.names import Names
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader


class Csv(TextTable):
    name = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    order = 60

    def recognise(self, head: Head) -> bool:
        return True  # whatever is left

    def complete(self, spec: "InputSpec", head: Head, overrides: TableOverrides) -> "InputSpec":
        from steelyard.io import csv_reader

        dialect = csv_reader.infer_dialect(
            head.source, separator=overrides.separator, header=overrides.header
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
        names = csv_reader.read_head(head.source, spec.dialect).names
        if not spec.dialect.header:
            return len(names) == len(spec.columns.names)
        return set(spec.columns.features) <= set(names)

    def adapt(self, spec: "InputSpec", head: Head, model: str) -> "InputSpec | None":
        from steelyard.io import csv_reader

        if spec.columns is None:
            return super().adapt(spec, head, model)
        header = spec.dialect is None or spec.dialect.header
        dialect = csv_reader.infer_dialect(head.source, header=header)
        return replace(spec, format=self.name, dialect=dialect)


class Tsv(Csv):
    name = "tsv"
    suffixes = (".tsv",)
    order = 50

    def recognise(self, head: Head) -> bool:
        return head.lines[0].count(b"\t") > head.lines[0].count(b",")
