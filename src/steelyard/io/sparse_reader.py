"""Readers of sparse text, one example per line: Vowpal Wabbit's format, and svmlight."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import LARGEST
from steelyard.features import Folding, HashedRowBuffers, HashedRows, Names, interactions
from steelyard.io import blocks
from steelyard.io.blocks import EXCERPT, GAPS, Block, LineReader, ParsedBlock, composer, new_problems
from steelyard.io.errors import RowError
from steelyard.io.input_spec import InputSpec
from steelyard.io.namespaces import EVERY, NamespaceExpansion
from steelyard.text import feature_names, hashing, sparse_text
from steelyard.text.index_value import new_batch

_NOTHING = np.zeros(0, np.int32)
QUERIES = "qid is ignored: rows are learned one by one, not as groups"


class SparseTextReader(LineReader):
    """What both have in common: labels are numbers, and features are read into buffers used again."""

    numeric_labels = True

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        crossed = interactions(spec.interactions)
        if spec.namespaces is not None and spec.namespaces.quadratic:
            crossed = spec.namespaces.interactions()
        self._folding = Folding(spec.bits, crossed, names)
        self._largest = LARGEST[spec.dtype]
        self._buffers = HashedRowBuffers(spec.dtype)
        self._fields = crossed.fields

    def _finish(
        self,
        block: Block,
        hashed: HashedRows,
        problems: NDArray[np.int64],
        kernel: Any,
        made_of: tuple[NDArray[np.int32], ...] = (),
        **known: Any,
    ) -> ParsedBlock:
        """The parsed block, which outlives the buffers. Names are written by the kernel, from what each
        feature is made of.
        """
        heads = ("labels", "sample_weight", "offsets", "tags", "ends")
        kept = replace(hashed, **{name: getattr(hashed, name).copy() for name in heads})
        notes = [_describe(block, *problem) for problem in problems[: known["skipped"], :3].tolist()]
        parsed = blocks.fold_rows(block, kept, self._folding, notes=notes, **known)
        if parsed.candidates is None or not len(parsed.candidates.keys):
            return parsed
        return replace(parsed, compose=composer(kernel, block.text, hashed.starts.copy(), *made_of))


class VwReader(SparseTextReader):
    """Vowpal Wabbit's text: `label importance base 'tag |namespace name:value …`.

    A name of digits is that number plus the namespace's key; any other is hashed with the key as seed.
    """

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        super().__init__(spec, names)
        options = spec.namespaces
        self._expand = None if options is None else NamespaceExpansion(options)
        by_letter = options is not None and options.quadratic
        named = () if by_letter else self._fields
        self._unmet = {place for place, field in enumerate(self._fields) if field != EVERY or not by_letter}
        self._field_seeds = np.array([hashing.name_key(field) for field in named], np.int64)

    @property
    def unmet(self) -> list[str]:
        return [self._fields[field] for field in sorted(self._unmet)]

    def parse(self, block: Block) -> ParsedBlock:
        buffer, stops = self._buffers.for_text(len(block.text))
        problems = new_problems(block)
        rows, features, lines, wrong = sparse_text.parse_vw(
            block.text, len(block.text), stops, new_batch(), self._largest, self._field_seeds,
            buffer.heads, buffer.features, problems,
        )  # fmt: skip
        hashed = buffer.first(rows, features)
        made_of = _NOTHING, _NOTHING
        if self._expand is not None:
            hashed = self._expand(block.text, hashed)
            made_of = hashed.stops, hashed.origins
        self._unmet.difference_update([field for field in self._unmet.copy() if field in hashed.fields])
        names = feature_names.compose_vw_names
        return self._finish(block, hashed, problems, names, made_of, lines=lines, skipped=wrong)


class SvmlightReader(SparseTextReader):
    """svmlight and libsvm text: `label index:value …`. An index is its own name."""

    def is_blank(self, line: bytes) -> bool:
        """A comment is as good as blank."""
        return line.lstrip(GAPS)[:1] in (b"", b"#")

    def parse(self, block: Block) -> ParsedBlock:
        buffer, stops = self._buffers.for_text(len(block.text))
        problems = new_problems(block)
        rows, features, lines, wrong, queries = sparse_text.parse_svmlight(
            block.text, len(block.text), stops, new_batch(), self._largest,
            buffer.heads, buffer.features, problems,
        )  # fmt: skip
        return self._finish(
            block, buffer.first(rows, features), problems, feature_names.compose_indices,
            lines=lines, skipped=wrong, remarks=frozenset([QUERIES] if queries else []),
        )  # fmt: skip


def _describe(block: Block, line: int, code: int, where: int) -> RowError:
    """Describe a problem with the word at which it begins."""
    text = block.text[where : where + EXCERPT].tobytes()
    words = text.split(maxsplit=1)
    return RowError(line, blocks.describe(code, words[0] if words and not text[:1].isspace() else b""))
