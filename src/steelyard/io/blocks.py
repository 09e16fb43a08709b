"""Blocks: the bytes of a source cut at the ends of lines, and `ParsedBlock`, the examples made of one.

A block can be parsed by itself, on any thread. Line numbers, names and errors of the whole file are
found later, in order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard._parameters import Message, Parameter
from steelyard.examples import Examples
from steelyard.features import Candidates, Folding, HashedRows, Names
from steelyard.io.errors import DESCRIBED, POINTS, InputError, RowError, has_decimal_comma
from steelyard.io.formats import MARK
from steelyard.io.sources import Source
from steelyard.text import lines as codes

LONGEST_LINE = 1 << 26
_TAIL = 1 << 12  # bytes that are searched for the end of a line at once, from the end
GAPS = b" \t\r"  # blanks within a line
EXCERPT = 40  # bytes of the text in a message

# What is wrong, and what to do; {0} is the place in the text, cut short
MESSAGES = {
    codes.BAD_LABEL: "the label {0!r} is not a number",
    codes.BAD_IMPORTANCE: "the weight {0!r} is not a number",
    codes.NEGATIVE_IMPORTANCE: "the weight {0!r} is negative: weights must be 0 or more",
    codes.BAD_BASE: "the offset {0!r} is not a number",
    codes.TOO_MANY_NUMBERS: "{0!r}: there are more than label, weight and offset before the first |; "
    "a tag begins with ' or touches the |",
    codes.NO_BAR: Message(
        "there is no | in this line; is it Vowpal Wabbit text? (when training, ",
        Parameter("format"),
        " says what it is)",
    ),
    codes.BAD_VALUE: "{0!r}: the value after the : is not a number",
    codes.NOT_FINITE: "{0!r}: NaN and infinite values cannot be learned from",
    codes.TOO_LARGE: "{0!r}: the value is so large that its square overflows; scale it",
    codes.BAD_INDEX: "{0!r}: a feature must be index:value, the index a whole number of 0 or more",
    codes.NOT_UTF8: Message(
        "not UTF-8 text; ", Parameter("encoding"), " says what it is, such as latin-1 or cp1252"
    ),
    codes.BAD_NAMESPACE_VALUE: "{0!r}: the weight after the namespace is not a number",
    codes.MISSING_FIELDS: "there are fewer fields than columns: {0!r}",
    codes.EXTRA_FIELDS: "there are more fields than columns: {0!r}; is a text with commas quoted, and is "
    "there no number with a decimal comma?",
    codes.OPEN_QUOTE: "a quoted field has no closing quote",
    codes.BAD_JSON: "{0!r}: not a JSON object",
    codes.BAD_NUMBER: "{0!r} is not a number; is it a category or text?",
    codes.STRAY_QUOTE: "{0!r}: after the closing quote the field must end; quotes within it are doubled",
    codes.NESTED: "{0!r}: only objects of numbers and lists of strings or numbers can be learned from; "
    "flatten it first, or ignore the column",
    codes.REPEATED_KEY: "{0!r}: the key comes twice in one object",
}
_NUMBERS = (codes.BAD_LABEL, codes.BAD_IMPORTANCE, codes.BAD_BASE, codes.BAD_NUMBER)

Compose = Callable[[NDArray[np.int32]], tuple[NDArray[np.uint8], NDArray[np.int32]]]


@dataclass(frozen=True)
class Block:
    """Whole lines, each with its newline (the last line of a file is given one if it lacks it)."""

    path: str
    text: NDArray[np.uint8]
    position: int
    """How many bytes of the file have been read, this block included."""
    described: int = field(default=DESCRIBED, kw_only=True)
    """The number of errors that a reader describes; all are counted."""
    unit: ClassVar[str] = "line"
    """What is counted to say where an error is."""

    def first(self, lines: int) -> Self:
        """The first of its lines."""
        ends = np.flatnonzero(self.text == codes.NEWLINE) + 1
        return replace(self, text=self.text[: ends[lines - 1]])


@dataclass(frozen=True)
class ParsedBlock:
    """The examples of a block, as a worker thread returns them."""

    block: Block
    examples: Examples
    lines: int
    candidates: Candidates | None = None
    compose: Compose | None = None
    """The names of candidates, from their places: all of them concatenated, and their lengths."""
    skipped: int = 0
    notes: list[RowError] = field(default_factory=list)
    tags: NDArray[np.int32] | None = None
    """The tag of each row, as a span of the text; empty for none."""
    text: NDArray[np.uint8] | None = None
    """The text that the tags are spans of, if it is not the block's own."""
    remarks: frozenset[str] = frozenset()
    """What the user should be told once, however many rows it applies to."""
    several_labels: int = 0
    """Rows that have more labels than the first, which counts."""
    predictions: NDArray[np.float64] | None = None
    """The prediction for each row, if a model has made them."""

    def predicted(self, predictions: NDArray[np.float64]) -> "ParsedBlock":
        return replace(self, predictions=predictions)

    def tag_texts(self) -> list[bytes]:
        """The tag of each row, empty for none."""
        if self.tags is None or not (self.tags[:, 1] > self.tags[:, 0]).any():
            return [b""] * len(self.examples)
        text = (self.block.text if self.text is None else self.text).tobytes()
        return [text[start:end] for start, end in self.tags.tolist()]

    def collect_names(self, names: Names | None) -> None:
        """Enter new features, in the order of the stream, and name those that need it."""
        if names is None or self.candidates is None:
            return
        chosen = names.admit(self.candidates)
        if len(chosen) and self.compose is not None:
            names.name(self.candidates.indices[chosen], *self.compose(self.candidates.places[chosen]))

    def take(self, rows: NDArray[np.integer[Any]]) -> "ParsedBlock":
        """Some of the rows."""
        tags = None if self.tags is None else self.tags[rows]
        predictions = None if self.predictions is None else self.predictions[rows]
        return replace(self, examples=self.examples.take(rows), tags=tags, predictions=predictions)


def usual_size(threads: int) -> int:
    """The size of a block in bytes. Small blocks stay in the CPU caches; with several threads larger ones
    mean less waiting.
    """
    return 1 << 22 if threads > 1 else 1 << 21


def last_line_end(text: NDArray[np.uint8], start: int) -> int:
    """The end of the last whole line, if not before `start`; 0 if there is none."""
    end = len(text)
    while end > start:
        begin = max(end - _TAIL, start)
        found = text[begin:end].tobytes().rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def cut(
    source: Source,
    size: int,
    pool: BufferPool,
    last_end: Callable[[NDArray[np.uint8], int], int] = last_line_end,
) -> Iterator[Block]:
    """The source in blocks of about `size` bytes, from the pool; a longer line makes a larger block.

    Each read goes directly behind the rest of the block before, so nothing but that rest is copied.
    """
    head = source.read(len(MARK))
    rest = np.frombuffer(b"" if head == MARK else head, np.uint8)
    done = 0
    while True:
        buffer = pool.empty(len(rest) + size, np.uint8)
        buffer[: len(rest)] = rest
        count = source.read_into(buffer.data[len(rest) :])
        if not count:
            break
        text = buffer[: len(rest) + count]
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


# A block without lines; read-only like all others, because kernels are compiled for read-only text
EMPTY = Block("", np.frombuffer(b"\n", np.uint8)[:0], 0)


class LineReader:
    """What readers of formats with one example per line have in common."""

    @cached_property
    def _texts(self) -> BufferPool:
        """Memory for the texts of blocks, of one file after another."""
        return BufferPool()

    def blocks(self, source: Source, size: int) -> Iterator[Block]:
        return cut(source, size, self._texts)

    def nothing(self) -> Block:
        return EMPTY

    def parse(self, block: Block) -> ParsedBlock:
        raise NotImplementedError

    def is_blank(self, line: bytes) -> bool:
        """Whether a line, given without its end, is neither a row nor an error."""
        return not line.strip(GAPS)


def new_problems(block: Block) -> NDArray[np.int64]:
    """An array in which a kernel notes line, code, start, stop and column of what it cannot read."""
    return np.empty((block.described, 5), np.int64)


def find_bad_lines(parse: Callable[[Block], ParsedBlock], parsed: ParsedBlock) -> dict[int, str]:
    """What is wrong with each line that could not be read. If not all errors are described, the block is
    parsed once more: searching for the lines one by one takes far longer.
    """
    if parsed.skipped > len(parsed.notes):
        parsed = parse(replace(parsed.block, described=parsed.skipped))
    return {note.line: note.what for note in parsed.notes}


def composer(kernel: Any, *arguments: Any) -> Compose:
    """Writes names of features by a kernel that first measures them, given an empty array."""

    def compose(places: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        lengths = np.empty(len(places), np.int32)
        names = np.empty(kernel(*arguments, places, np.empty(0, np.uint8), lengths), np.uint8)
        kernel(*arguments, places, names, lengths)
        return names, lengths

    return compose


def fold_rows(block: Block, hashed: HashedRows, folding: Folding, **known: Any) -> ParsedBlock:
    """Fold the features into the model's range; `known` is the rest of the parsed block."""
    folded = folding.fold(hashed)
    unlabelled = np.isnan(hashed.labels)
    sample_weight = (
        np.where(unlabelled, 0.0, hashed.sample_weight) if unlabelled.any() else hashed.sample_weight
    )
    examples = Examples(
        folded.indptr, folded.indices, folded.values, False, folding.features, hashed.labels, sample_weight,
        offsets=hashed.offsets if hashed.offsets.any() else None,
    )  # fmt: skip
    return ParsedBlock(block, examples, candidates=folded.candidates, tags=hashed.tags, **known)


def describe(code: int, excerpt: bytes) -> str:
    """What a kernel has noted, in words."""
    text = excerpt.decode("utf-8", "replace")
    message = MESSAGES[code]
    if not isinstance(message, Message):
        message = message.format(text)
    if code in _NUMBERS and has_decimal_comma(text):
        return f"{message.partition(';')[0]}: {POINTS}"
    return message
