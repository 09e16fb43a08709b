"""svmlight and libsvm text: `label index:value …`, one example a line, indices as they stand there."""

from collections.abc import Iterator

from steelyard.examples import LARGEST
from steelyard.features.folding import Folding, KeyedBuffers
from steelyard.io import blocks as cutting
from steelyard.io.blocks import Block
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.sources import Source
from steelyard.io.textlines import finished_text, room_for_problems
from steelyard.text import svmlight

QUERIES = "qid is ignored: rows are learned one by one, not as groups"


class SvmlightText:
    """An index is its own name."""

    numeric_labels = True

    def __init__(self, folding: Folding, dtype: str) -> None:
        self._folding = folding
        self._dtype = dtype
        self._room = KeyedBuffers(dtype)

    def blocks(self, source: Source, size: int) -> Iterator[Block]:
        return cutting.blocks(source, size)

    def nothing(self) -> Block:
        return cutting.empty_block()

    def parse(self, block: Block) -> ParsedBlock:
        text = block.text
        room, stops = self._room.for_text(len(text))
        problems = room_for_problems()
        rows, features, count, wrong, queries = svmlight.parse(
            text, len(text), stops, LARGEST[self._dtype],
            room.labels, room.sample_weight, room.offsets, room.tags, room.ends,
            room.keys, room.values, room.fields, room.starts, problems,
        )  # fmt: skip
        keyed = room.first(rows, features)
        return finished_text(
            block, keyed, self._folding, lines=count, wrong=wrong, problems=problems,
            kernel=svmlight.compose_names,
            remarks=frozenset([QUERIES] if queries else []),
        )  # fmt: skip
