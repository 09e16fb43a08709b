"""Vowpal Wabbit's text: `label importance base 'tag |namespace name:value …`, one example a line."""

from collections.abc import Iterator

import numpy as np

from steelyard.examples import LARGEST
from steelyard.features import hashing
from steelyard.features.folding import Folding, KeyedBuffers
from steelyard.features.interactions import Interactions
from steelyard.io import blocks as cutting
from steelyard.io.blocks import Block
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.sources import Source
from steelyard.io.textlines import finished_text, room_for_problems
from steelyard.text import feature_names, vw


class VwText:
    """A name of digits is that number plus the namespace's key; any other is hashed with it as seed."""

    numeric_labels = True

    def __init__(self, folding: Folding, interactions: Interactions, dtype: str) -> None:
        self._folding = folding
        self._dtype = dtype
        self._room = KeyedBuffers(dtype)
        self._fields = interactions.fields
        self._unmet = set(range(len(self._fields)))
        self._field_seeds = np.array([hashing.key(field) for field in interactions.fields], np.int64)

    def blocks(self, source: Source, size: int) -> Iterator[Block]:
        return cutting.blocks(source, size)

    @property
    def unmet(self) -> list[str]:
        return [self._fields[field] for field in sorted(self._unmet)]

    def nothing(self) -> Block:
        return cutting.empty_block()

    def parse(self, block: Block) -> ParsedBlock:
        text = block.text
        room, stops = self._room.for_text(len(text))
        problems = room_for_problems()
        rows, features, count, wrong = vw.parse(
            text, len(text), stops, LARGEST[self._dtype], self._field_seeds,
            room.labels, room.sample_weight, room.offsets, room.tags, room.ends,
            room.keys, room.values, room.fields, room.starts, problems,
        )  # fmt: skip
        keyed = room.first(rows, features)
        self._unmet.difference_update([field for field in self._unmet.copy() if field in keyed.fields])
        return finished_text(
            block, keyed, self._folding, lines=count, wrong=wrong, problems=problems,
            kernel=feature_names.compose_vw_names,
        )  # fmt: skip
