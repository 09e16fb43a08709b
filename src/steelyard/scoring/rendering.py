"""`Renderer`: rows of a block as they are written, with columns added: bytes of text, or Arrow record batches.

Where the format stays, rows are copied as they stand in their file (`copying`); elsewhere their values are written
anew (`converting`).
"""

from collections.abc import Sequence
from typing import Any, Protocol

from steelyard.io.blocks import Block
from steelyard.scoring import converting, copying
from steelyard.scoring.records import (
    ArrowRecords,
    ColumnValues,
    DelimitedRecords,
    JsonRecords,
    RowNumbers,
    TableRows,
)


class Renderer(Protocol):
    """Makes what is written of some rows of a block."""

    header: bytes
    schema: Any
    """The schema of Arrow and Parquet; None for text."""

    def render(self, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]) -> Any:
        """Bytes of text, or a record batch where there is a schema."""
        ...


def renderer(
    kind: str, records: TableRows, names: Sequence[str], numeric: Sequence[bool], remedy: str = "rename it"
) -> Renderer:
    """Rows as a file of this format, with columns of these names added; `numeric` tells which are numbers.

    `remedy` says what to do where a JSON object has one of these names already.
    """
    if kind in ("arrow", "parquet"):
        if isinstance(records, ArrowRecords):
            return copying.ArrowCopy(records, names, numeric)
        return converting.ArrowConversion(records, names, numeric)
    if kind == "jsonl":
        if isinstance(records, JsonRecords):
            return copying.JsonCopy(records, names, remedy)
        return converting.JsonConversion(records, names)
    separator = "\t" if kind == "tsv" else ","
    if isinstance(records, DelimitedRecords):
        own = records.dialect.separator
        if own == separator or "\t" not in (own, separator):  # semicolons stay in a .csv
            return copying.DelimitedCopy(records, names)
    return converting.DelimitedConversion(records, names, separator)
