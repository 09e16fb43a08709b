"""`ParsedBlock`: a block turned into examples, with the errors to report when its turn comes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import Examples
from steelyard.features.names import Candidates
from steelyard.io.blocks import Block

Compose = Callable[[NDArray[np.int32]], tuple[NDArray[np.uint8], NDArray[np.int32]]]


@dataclass(frozen=True)
class RowError:
    """A line of the block that was left out: its number within the block, from 0, and why."""

    line: int
    what: str


@dataclass(frozen=True)
class ParsedBlock:
    """What a worker hands over. Files, line numbers and names are settled later, in order."""

    block: Block
    examples: Examples
    lines: int
    candidates: Candidates | None = None
    compose: Compose | None = None
    """The names of candidates, from their places: all of them one after another, and their lengths."""
    skipped: int = 0
    notes: list[RowError] = field(default_factory=list)
    tags: NDArray[np.int32] | None = None
    """Of each row, as a span of the text; an empty one for none."""
    text: NDArray[np.uint8] | None = None
    """What the tags are spans of, where that is not the block's text but one made of it."""
    remarks: frozenset[str] = frozenset()
    """What the user should know once, however many rows it is true of."""
    predictions: NDArray[np.float64] | None = None
    """Of each row, where a model has been asked."""

    def predicted(self, predictions: NDArray[np.float64]) -> "ParsedBlock":
        return replace(self, predictions=predictions)

    def take(self, rows: NDArray[np.integer[Any]]) -> "ParsedBlock":
        """Some of the rows."""
        tags = None if self.tags is None else self.tags[rows]
        predictions = None if self.predictions is None else self.predictions[rows]
        return replace(self, examples=self.examples.take(rows), tags=tags, predictions=predictions)
