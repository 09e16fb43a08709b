"""Predictions line by line, for programs that wait for the answer to each line: also a bad one gets one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.protocol import Predicts
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.stream import Reader


@dataclass(frozen=True)
class Answered:
    """Lines that follow one another: all of them rows, with their predictions, or one that is none."""

    parsed: ParsedBlock | None = None
    predictions: NDArray[np.float64] | None = None
    error: str | None = None
    """What is wrong with the line; None for a blank one."""


def predict_lines(reader: Reader, engine: Predicts, block: Block) -> Iterator[Answered]:
    """The answers, in the order of the lines.

    A block with a line that is no row is halved until that line is alone, so that the others need not be
    parsed one by one.
    """
    parsed = reader.parse(block)
    if not parsed.skipped and len(parsed.examples) == parsed.lines:
        yield Answered(parsed, engine.predict(parsed.examples))
        return
    ends = np.flatnonzero(block.text == ord("\n")) + 1
    if len(ends) == 1:
        yield Answered(error=parsed.notes[0].what if parsed.notes else None)
        return
    middle = int(ends[len(ends) // 2 - 1])
    for text in (block.text[:middle], block.text[middle:]):
        yield from predict_lines(reader, engine, replace(block, text=text))
