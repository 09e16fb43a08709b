"""Arrow IPC and Parquet: ready-made sparse rows, or ordinary columns."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from steelyard.examples import Examples
from steelyard.io import batches, extras, ready, sources, typed_guess
from steelyard.io import header as headers
from steelyard.io.batches import Batch
from steelyard.io.blocks import Block
from steelyard.io.parsed import Parsed
from steelyard.io.problems import InputError
from steelyard.io.sources import Source
from steelyard.io.tables import HEAD_BYTES
from steelyard.io.typed import TypedTable


class ArrowTable:
    """Rows for a model of so many features; a file that was converted for another number is refused.

    Without `ordinary`, which knows what ordinary columns are for, only ready-made rows can be read.
    """

    def __init__(self, features: int, ordinary: TypedTable | None = None) -> None:
        self._features = features
        self._ordinary = ordinary

    def blocks(self, source: Source, size: int) -> Iterator[Block]:
        for batch in batches.batches(source, size):
            if batch.header is not None and batch.header.features != self._features:
                raise InputError(_other_width(batch, self._features))
            yield batch

    def parse(self, block: Block) -> Parsed:
        batch = cast(Batch, block)
        if batch.names is not None:
            return self._named(batch, batch.names)
        pyarrow = extras.pyarrow(batch.path)
        try:
            if ready.is_ready(batch.rows.schema):
                return ready.parse(batch, self._features)
            if self._ordinary is not None:
                return self._ordinary.parse(batch)
        except (ValueError, pyarrow.ArrowException) as error:
            raise InputError(f"{batch.path}: {error}") from None
        raise InputError(
            f"{batch.path}: has no lists 'indices' and 'values' but ordinary columns; say what they are for"
        )

    def _named(self, batch: Batch, packed: bytes) -> Parsed:
        names = headers.stored_names(packed, batch.path)
        nothing = Examples(
            np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), False, self._features,
            np.zeros(0), np.zeros(0),
        )  # fmt: skip
        return Parsed(batch, nothing, 0, names.candidates(self._features), names.compose())


def head(path: str) -> Any:
    """The first rows of a file, a RecordBatch, to guess from what its columns are for."""
    with sources.opened(path) as source:
        found = (batch.rows for batch in batches.batches(source, HEAD_BYTES) if batch.rows is not None)
        first, _ = typed_guess.head(found)
    if first is None:
        raise InputError(f"{path}: has no rows")
    return first


def _other_width(batch: Batch, features: int) -> str:
    found = cast(headers.Header, batch.header)
    widths = f"{found.features} features, the model has {features}"
    bits = "" if found.bits is None else f" (--bits {found.bits})"
    return f"{batch.path}: was converted for {widths}; use as many{bits}, or convert the original again"
