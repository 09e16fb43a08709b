"""Arrow IPC and Parquet: ready-made sparse rows, or ordinary columns."""

from collections.abc import Iterator
from typing import Any, cast

from steelyard.io import arrow_csr, arrow_roles, batches, extras, sources
from steelyard.io import header as headers
from steelyard.io.arrow_columns import TypedTable
from steelyard.io.batches import Batch
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.sources import Source
from steelyard.io.tables import HEAD_BYTES


class ArrowTable:
    """Rows for a model of so many features; a file that was converted for another number is refused.

    Without `ordinary`, which knows what ordinary columns are for, only ready-made rows can be read.
    """

    def __init__(self, features: int, ordinary: TypedTable | None = None) -> None:
        self.numeric_labels = ordinary is None
        self._features = features
        self._ordinary = ordinary

    def blocks(self, source: Source, size: int) -> Iterator[Block]:
        for batch in batches.batches(source, size):
            if batch.header is not None and batch.header.features != self._features:
                raise InputError(_other_width(batch, self._features))
            yield batch

    def parse(self, block: Block) -> ParsedBlock:
        batch = cast(Batch, block)
        if batch.names is not None:
            names = headers.stored_names(batch.names, batch.path)
            no_rows = arrow_csr.no_rows(self._features)
            return ParsedBlock(batch, no_rows, 0, names.candidates(self._features), names.compose())
        if batch.rows is None:
            return ParsedBlock(batch, arrow_csr.no_rows(self._features), 0)
        pyarrow = extras.pyarrow(batch.path)
        try:
            if arrow_csr.is_ready(batch.rows.schema):
                return arrow_csr.parse(batch, self._features)
            if self._ordinary is not None:
                return self._ordinary.parse(batch)
        except (ValueError, pyarrow.ArrowException) as error:
            raise InputError(f"{batch.path}: {error}") from None
        raise InputError(
            f"{batch.path}: has no lists 'indices' and 'values' but ordinary columns; say what they are for"
        )

    def nothing(self) -> Batch:
        return Batch("", batches.NO_TEXT, 0)


def head(path: str) -> Any:
    """The first rows of a file, a RecordBatch, to guess from what its columns are for."""
    with sources.opened(path) as source:
        read = batches.peeked if sources.once_only(path) else batches.batches
        found = (batch.rows for batch in read(source, HEAD_BYTES) if batch.rows is not None)
        first, _ = arrow_roles.head(found)
    if first is None:
        raise InputError(f"{path}: has no rows")
    return first


def _other_width(batch: Batch, features: int) -> str:
    found = cast(headers.Header, batch.header)
    widths = f"{found.features} features, the model has {features}"
    bits = "" if found.bits is None else f" (--bits {found.bits})"
    return f"{batch.path}: was converted for {widths}; use as many{bits}, or convert the original again"
