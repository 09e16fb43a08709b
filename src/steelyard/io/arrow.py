"""Arrow IPC and Parquet: ready-made sparse rows, or ordinary columns."""

from collections.abc import Iterator
from typing import cast

import numpy as np

from steelyard.examples import Examples
from steelyard.io import batches, extras, ready
from steelyard.io import header as headers
from steelyard.io.batches import Batch
from steelyard.io.blocks import Block
from steelyard.io.parsed import Parsed
from steelyard.io.problems import InputError
from steelyard.io.sources import Source


class ArrowTable:
    """Rows for a model of so many features; a file that was converted for another number is refused."""

    def __init__(self, features: int) -> None:
        self._features = features

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
            return ready.parse(batch, self._features)
        except (ValueError, pyarrow.ArrowException) as error:
            raise InputError(f"{batch.path}: {error}") from None

    def _named(self, batch: Batch, packed: bytes) -> Parsed:
        names = headers.stored_names(packed, batch.path)
        nothing = Examples(
            np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), False, self._features,
            np.zeros(0), np.zeros(0),
        )  # fmt: skip
        return Parsed(batch, nothing, 0, names.candidates(self._features), names.compose())


def _other_width(batch: Batch, features: int) -> str:
    found = cast(headers.Header, batch.header)
    widths = f"{found.features} features, the model has {features}"
    bits = "" if found.bits is None else f" (--bits {found.bits})"
    return f"{batch.path}: was converted for {widths}; use as many{bits}, or convert the original again"
