"""A look at the beginning of the files before anything is learned: format, and what the labels are like.

It takes the same first bytes whatever the size of the blocks later on, so guesses do not depend on that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.io import formats, sources
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.reading import Reading

HEAD_BYTES = 1 << 20
HEAD_ROWS = 1000


@dataclass(frozen=True)
class Look:
    """The labels and importances of the first rows; labels also as they stand in the file."""

    names: list[str]
    labels: NDArray[np.float64]
    importances: NDArray[np.float64]


def format_of(paths: Sequence[str]) -> str:
    """The format of all the files."""
    found = formats.common_format(list(paths))
    if found is None:
        with sources.opened(paths[0]) as source:
            return formats.sniffed(source)
    return found


def look(path: str, reading: Reading) -> Look:
    """The first rows as this reading has them."""
    with sources.opened(path) as source:
        head = source.peek(HEAD_BYTES)
        position = source.position
    if not head.strip():
        raise InputError(f"{path}: is empty")
    whole = head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    text = whole if whole.endswith(b"\n") else whole + b"\n"
    parsed = reading.reader().parse(Block(path, np.frombuffer(text, np.uint8), position))
    labels = parsed.examples.labels[:HEAD_ROWS]
    present = ~np.isnan(labels)
    return Look(
        [f"{label:g}" for label in labels[present].tolist()],
        labels[present],
        parsed.examples.importances[:HEAD_ROWS][present],
    )
