"""`ActiveQuestion`: a row whose label is wanted; strategies by name, and the checksum of a pool."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.active import strategies
from steelyard.active.strategies._base import Strategy
from steelyard.examples import Examples


@dataclass(frozen=True)
class ActiveQuestion:
    """A row whose label is wanted."""

    id: int
    """For `answer`: its number in the stream, from 0."""
    row: int
    """Its row in the matrix that was given, or in the pool."""
    probability: float
    """With which it was asked for."""
    prediction: Any
    """The class that the model expects."""


def find_strategy(given: Any) -> Strategy:
    if isinstance(given, str):
        return strategies.by_name(given)
    if not isinstance(given, Strategy):
        hint = f"; give an instance, {given.__name__}()" if isinstance(given, type) else ""
        raise TypeError(f"strategy must be a name or an instance of Strategy; got {given!r}{hint}")
    return given


def fingerprint(chunk: Examples) -> int:
    """A checksum of a pool, so that a journal is not continued with other rows."""
    found = 0
    for array in (chunk.indptr, chunk.indices, chunk.values):
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return found
