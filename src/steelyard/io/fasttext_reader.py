"""The reader of fastText's text. Lines become two columns separated by a tab, for the reader of TSV."""

from dataclasses import replace

import numpy as np

from steelyard.features import Names
from steelyard.io import columns as roles
from steelyard.io.blocks import Block, LineReader, ParsedBlock
from steelyard.io.csv_reader import DelimitedBlock, DelimitedReader
from steelyard.io.formats.fasttext import PREFIX
from steelyard.io.input_spec import Dialect, InputSpec

_PLACES = {roles.LABEL: 0, roles.TAG: 0, roles.TEXT: 1}


def split(line: bytes) -> tuple[bytes, bytes, int]:
    """The first label of a line, its text, and how many labels there are.

    >>> split(b"__label__spam __label__short Buy now")
    (b'spam', b'Buy now', 2)
    """
    first, _, rest = line.partition(b" ")
    if first.startswith(PREFIX) and PREFIX not in rest and len(first.split()) == 1:
        return first[len(PREFIX) :].strip(), rest, 1
    if PREFIX not in line:
        return b"", line, 0
    words = line.split()
    labels = [word.removeprefix(PREFIX) for word in words if word.startswith(PREFIX)]
    text = b" ".join(word for word in words if not word.startswith(PREFIX))
    return (labels or [b""])[0], text, len(labels)


class FastTextReader(LineReader):
    """Blank lines are skipped."""

    numeric_labels = False

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        assert spec.columns is not None
        self._inner = DelimitedReader(replace(spec, dialect=Dialect("\t", False, False)), names)
        self._places = np.array([_PLACES.get(column.role, -1) for column in spec.columns.columns], np.int64)

    def is_blank(self, line: bytes) -> bool:
        return not line.strip()

    def parse(self, block: Block) -> ParsedBlock:
        lines, several = [], 0
        for line in block.text.tobytes().replace(b"\t", b" ").split(b"\n"):
            label, text, labels = split(line)
            lines.append(label + b"\t" + text if line.strip() else b"")
            several += labels > 1
        table_text = np.frombuffer(b"\n".join(lines), np.uint8)
        table = DelimitedBlock(
            block.path, table_text, block.position, 0, 2, self._places, frozenset(), described=block.described
        )
        return replace(self._inner.parse(table), block=block, several_labels=several)
