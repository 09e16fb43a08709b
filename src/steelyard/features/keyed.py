"""`Keyed`: what a reader makes of its text. Rows of features that have keys, not yet places in a model."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.text.token_ends import SPARE


@dataclass(frozen=True)
class Keyed:
    """Rows of features, each a 32-bit key and a value.

    `fields` says which of the interactions' fields a feature belongs to (−1: none), `starts` where
    in the text its name begins. A row without a label has NaN there. `tags` are spans of the text.
    """

    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64]
    tags: NDArray[np.int32]
    ends: NDArray[np.int64]
    keys: NDArray[np.uint32]
    values: NDArray[np.floating[Any]]
    fields: NDArray[np.int16]
    starts: NDArray[np.int32]

    @classmethod
    def empty(cls, rows: int, features: int, dtype: str) -> "Keyed":
        """Room for so many rows and features."""
        return cls(
            labels=np.empty(rows),
            sample_weight=np.empty(rows),
            offsets=np.empty(rows),
            tags=np.empty((rows, 2), np.int32),
            ends=np.empty(rows, np.int64),
            keys=np.empty(features, np.uint32),
            values=np.empty(features, dtype),
            fields=np.empty(features, np.int16),
            starts=np.empty(features, np.int32),
        )

    def first(self, rows: int, features: int) -> "Keyed":
        """The rows and features that have been filled in: views."""
        return Keyed(
            self.labels[:rows],
            self.sample_weight[:rows],
            self.offsets[:rows],
            self.tags[:rows],
            self.ends[:rows],
            self.keys[:features],
            self.values[:features],
            self.fields[:features],
            self.starts[:features],
        )


class Room:
    """Room that each thread fills again and again: what is not touched of it takes no memory."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self._own = threading.local()

    def for_text(self, size: int) -> tuple[Keyed, NDArray[np.int32]]:
        """For text of so many bytes, in which a row takes at least two, and so does a feature.

        And room for the places of blanks, of which there may be one to each byte.
        """
        kept: tuple[Keyed, NDArray[np.int32]] | None = getattr(self._own, "kept", None)
        if kept is None or len(kept[1]) < size + SPARE:
            wanted = size // 2 + 1
            kept = Keyed.empty(wanted, wanted, self._dtype), np.empty(size + SPARE, np.int32)
            self._own.kept = kept
        return kept
