"""Readers of sparse text, one example per line: Vowpal Wabbit's format, and svmlight."""

import numpy as np

from steelyard.examples import LARGEST
from steelyard.features import hashing
from steelyard.features.folding import Folding, KeyedBuffers
from steelyard.features.interactions import interactions
from steelyard.features.names import Names
from steelyard.io.blocks import Block, LineReader, ParsedBlock, finish_text, new_problems
from steelyard.io.input_spec import InputSpec
from steelyard.text import feature_names, svmlight, vw

QUERIES = "qid is ignored: rows are learned one by one, not as groups"


class VwReader(LineReader):
    """Vowpal Wabbit's text: `label importance base 'tag |namespace name:value …`.

    A name of digits is that number plus the namespace's key; any other is hashed with the key as seed.
    """

    numeric_labels = True

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        crossed = interactions(spec.interactions)
        self._folding = Folding(spec.bits, crossed, names)
        self._dtype = spec.dtype
        self._room = KeyedBuffers(spec.dtype)
        self._fields = crossed.fields
        self._unmet = set(range(len(self._fields)))
        self._field_seeds = np.array([hashing.key(field) for field in self._fields], np.int64)

    @property
    def unmet(self) -> list[str]:
        return [self._fields[field] for field in sorted(self._unmet)]

    def parse(self, block: Block) -> ParsedBlock:
        text = block.text
        room, stops = self._room.for_text(len(text))
        problems = new_problems()
        rows, features, count, wrong = vw.parse(
            text, len(text), stops, LARGEST[self._dtype], self._field_seeds,
            room.labels, room.sample_weight, room.offsets, room.tags, room.ends,
            room.keys, room.values, room.fields, room.starts, problems,
        )  # fmt: skip
        keyed = room.first(rows, features)
        self._unmet.difference_update([field for field in self._unmet.copy() if field in keyed.fields])
        return finish_text(
            block, keyed, self._folding, lines=count, wrong=wrong, problems=problems,
            kernel=feature_names.compose_vw_names,
        )  # fmt: skip


class SvmlightReader(LineReader):
    """svmlight and libsvm text: `label index:value …`. An index is its own name."""

    numeric_labels = True

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        self._folding = Folding(spec.bits, interactions(spec.interactions), names)
        self._dtype = spec.dtype
        self._room = KeyedBuffers(spec.dtype)

    def parse(self, block: Block) -> ParsedBlock:
        text = block.text
        room, stops = self._room.for_text(len(text))
        problems = new_problems()
        rows, features, count, wrong, queries = svmlight.parse(
            text, len(text), stops, LARGEST[self._dtype],
            room.labels, room.sample_weight, room.offsets, room.tags, room.ends,
            room.keys, room.values, room.fields, room.starts, problems,
        )  # fmt: skip
        keyed = room.first(rows, features)
        return finish_text(
            block, keyed, self._folding, lines=count, wrong=wrong, problems=problems,
            kernel=svmlight.compose_names,
            remarks=frozenset([QUERIES] if queries else []),
        )  # fmt: skip
