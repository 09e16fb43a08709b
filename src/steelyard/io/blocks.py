"""Blocks: the bytes of a source cut at the ends of lines, so that each can be parsed by itself."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.io.errors import InputError
from steelyard.io.sources import Source
from steelyard.kernels.lines import NEWLINE

BLOCK_SIZE = 1 << 21
LONGEST_LINE = 1 << 26
MARK = b"\xef\xbb\xbf"  # some programs begin UTF-8 files with it


@dataclass(frozen=True)
class Block:
    """Whole lines, each with its newline (the last line of a file is given one if it lacks it)."""

    path: str
    text: NDArray[np.uint8]
    position: int
    """How far the file is read with it."""
    unit: ClassVar[str] = "line"
    """What is counted to say where something is wrong."""

    def first(self, lines: int) -> Self:
        """The first of its lines."""
        ends = np.flatnonzero(self.text == NEWLINE) + 1
        return replace(self, text=self.text[: ends[lines - 1]])


def last_line_end(text: bytes, start: int) -> int:
    """Where the last whole line ends that is not before `start`; 0 if there is none."""
    return text.rfind(b"\n", start) + 1


def blocks(
    source: Source,
    size: int = BLOCK_SIZE,
    last_end: Callable[[bytes, int], int] = last_line_end,
) -> Iterator[Block]:
    """The source in blocks of about `size` bytes; a line that is longer makes a larger one."""
    rest = source.read(len(MARK))
    rest = b"" if rest == MARK else rest
    done = 0
    while True:
        more = source.read(size)
        text = rest + more
        if not more:
            break
        end = last_end(text, len(rest))
        if end:
            yield _block(source, text, end)
        elif len(text) > LONGEST_LINE:
            raise InputError(
                f"{source.path}: a line, after the first {done:,} bytes, is longer than "
                f"{LONGEST_LINE / (1 << 20):g} MB; is it the right file?"
            )
        done += end
        rest = text[end:]
    if rest:
        last = rest if rest.endswith(b"\n") else rest + b"\n"
        yield _block(source, last, len(last))


def empty_block(path: str = "") -> Block:
    """One with no lines in it. Read-only as all are, for which kernels are compiled."""
    return Block(path, np.frombuffer(b"\n", np.uint8)[:0], 0)


def _block(source: Source, text: bytes, end: int) -> Block:
    return Block(source.path, np.frombuffer(text, np.uint8, end), source.position)
