"""Blocks: the bytes of a source cut at the ends of lines, so that each can be parsed by itself."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard.io.errors import InputError
from steelyard.io.sources import Source
from steelyard.text.lines import NEWLINE

LONGEST_LINE = 1 << 26
_TAIL = 1 << 12  # bytes that are searched for the end of a line at once, from the end
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


def usual_size(threads: int) -> int:
    """Of a block, in bytes. What is made of a small one stays in the caches; of large ones there are fewer,
    between which threads would wait for each other.
    """
    return 1 << 22 if threads > 1 else 1 << 21


def last_line_end(text: NDArray[np.uint8], start: int) -> int:
    """Where the last whole line ends that is not before `start`; 0 if there is none."""
    end = len(text)
    while end > start:
        begin = max(end - _TAIL, start)
        found = text[begin:end].tobytes().rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def blocks(
    source: Source,
    size: int,
    last_end: Callable[[NDArray[np.uint8], int], int] = last_line_end,
) -> Iterator[Block]:
    """The source in blocks of about `size` bytes; a line that is longer makes a larger one.

    The bytes are read to where they stay, behind what was left of the block before.
    """
    head = source.read(len(MARK))
    rest = np.frombuffer(b"" if head == MARK else head, np.uint8)
    done = 0
    rooms = BufferPool()
    while True:
        room = rooms.empty(len(rest) + size, np.uint8)
        room[: len(rest)] = rest
        count = source.read_into(room.data[len(rest) :])
        if not count:
            break
        text = room[: len(rest) + count]
        text.flags.writeable = False
        end = last_end(text, len(rest))
        if end:
            yield Block(source.path, text[:end], source.position)
        elif len(text) > LONGEST_LINE:
            raise InputError(
                f"{source.path}: a line, after the first {done:,} bytes, is longer than "
                f"{LONGEST_LINE / (1 << 20):g} MB; is it the right file?"
            )
        done += end
        rest = text[end:]
    if len(rest):
        last = rest.tobytes()
        last += b"" if last.endswith(b"\n") else b"\n"
        yield Block(source.path, np.frombuffer(last, np.uint8), source.position)


def empty_block(path: str = "") -> Block:
    """One with no lines in it. Read-only as all are, for which kernels are compiled."""
    return Block(path, np.frombuffer(b"\n", np.uint8)[:0], 0)
