"""What tables have in common: columns in the form kernels take, and rows made of their cells."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard._parameters import Message, bare
from steelyard.examples import LARGEST
from steelyard.features import Folding, HashedRows, Names, interactions
from steelyard.io import columns as roles
from steelyard.io.blocks import EXCERPT, Block, ParsedBlock, composer, describe, fold_rows, new_problems
from steelyard.io.errors import InputError, RowError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule
from steelyard.text import cells, feature_names, hashing, structs
from steelyard.text.lines import UNKNOWN_LABEL
from steelyard.text.repeats import scratch_for

_CODES = {role: code for code, role in enumerate(roles.ROLES)}


@dataclass(frozen=True)
class RowBuffers:
    """Arrays for the rows of one block: the text, with room behind it for decoded cells, and so on."""

    text: NDArray[np.uint8]
    buffer: NDArray[np.uint8]
    hashed: HashedRows
    scratch: structs.Scratch
    problems: NDArray[np.int64]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the kernels of both formats take beside the text."""
        return self.scratch, self.buffer, self.hashed.heads, self.hashed.features, self.problems


class TableParser:
    """Columns, options and label rule in the form that kernels take."""

    def __init__(self, spec: InputSpec, names: Names | None) -> None:
        assert spec.columns is not None
        columns, crossed = spec.columns, interactions(spec.interactions)
        learned = {column.learned_name: column for column in columns.columns}
        for field in crossed.fields:
            roles.require([field], learned, bare("interactions"))
            if learned[field].role not in roles.FEATURES:
                raise InputError(
                    bare("interactions"), f": {field!r} is not a feature but {learned[field].role}"
                )
        self.columns = columns
        self.names = _byte_array("".join(columns.names).encode())
        self.name_ends = np.cumsum([len(name.encode()) for name in columns.names], dtype=np.int64)
        self.dtype = spec.dtype
        self.label_rule = spec.label_rule
        self._folding = Folding(spec.bits, crossed, names)
        self._text_options = spec.text
        self._named, self._crossed = names is not None, bool(crossed.crosses)
        self._pool, self._decoded, self._own = BufferPool(), BufferPool(), threading.local()
        self._texts = bool(columns.with_role(roles.TEXT))
        self._plain = len(columns.with_role(roles.CATEGORY)) + len(columns.with_role(roles.NUMBER))
        missing = [word.lower().encode() for word in columns.missing]
        padded = b"".join(word.ljust(max(map(len, missing)), b"\0") for word in missing)
        places = {name: place for place, name in enumerate(crossed.fields)}
        plan = structs.CellPlan(
            np.array([_CODES[column.role] for column in columns.columns], np.int64),
            np.array([hashing.column_key(name) for name in learned], np.int64),
            np.array([places.get(name, -1) for name in learned], np.int16),
            _byte_array(padded).reshape(len(missing), -1 if missing else 0),
            np.array([len(word) for word in missing], np.int64),
        )
        self.arguments = (
            plan,
            _rule_arrays(spec.label_rule),
            spec.text.array(spec.bits),
            LARGEST[spec.dtype],
        )

    def hashed(self, rows: int, features: int, size: int) -> tuple[HashedRows, structs.Scratch]:
        """Room for so many rows and features and the tokens of `size` bytes; and what the tokeniser needs.

        Generous bounds cost nothing: memory that is not touched is not used.
        """
        tokens = self._text_options.most_tokens(size) if self._texts else 0
        merged = tokens if self._text_options.repeated != "counts" else 0
        buffer = HashedRows.empty(
            rows, features + tokens, self.dtype, self._pool, named=self._named, crossed=self._crossed
        )
        buffer = replace(buffer, distinct=np.empty(rows, np.bool_), lent=False)
        return buffer, self._scratch(merged)

    def _scratch(self, tokens: int) -> structs.Scratch:
        """The scratch memory of this thread, used again: the system would clear fresh memory."""
        kept: structs.Scratch | None = getattr(self._own, "scratch", None)
        if kept is None or len(kept.known) <= tokens:
            self._own.scratch = kept = scratch_for(tokens)
        return kept

    def allocate(self, block: Block, escape: int, elements: bool) -> tuple[RowBuffers, bool]:
        """Room for all that a block can hold, and whether all of it is UTF-8."""
        size = len(block.text)
        lines, valid, escapes = cells.measures(block.text, size, escape)
        text, buffer = block.text, np.empty(0, np.uint8)
        if escapes:
            buffer = self._decoded.empty(2 * size, np.uint8)
            buffer[:size] = text
            text = buffer.view()
            text.flags.writeable = False
        hashed, room_for_tokens = self.hashed(
            lines, lines * self._plain + (size // 2 if elements else 0), size
        )
        return RowBuffers(text, buffer, hashed, room_for_tokens, new_problems(block)), valid

    def fold(self, block: Block, hashed: HashedRows, text: NDArray[np.uint8], **known: Any) -> ParsedBlock:
        """The parsed block, whose tags and names are spans of this text."""
        spans = hashed.starts, hashed.stops, hashed.origins
        compose = composer(feature_names.compose_cell_names, text, *spans, self.names, self.name_ends)
        return fold_rows(block, hashed, self._folding, compose=compose, text=text, **known)

    def finish(
        self, block: Block, buffers: RowBuffers, found: Sequence[int], remarks: frozenset[str]
    ) -> ParsedBlock:
        """The parsed block, with its errors described; `found` are its rows, features, lines and errors."""
        rows, features, lines, wrong = found
        notes = [self._describe(buffers.text, *problem) for problem in buffers.problems[:wrong].tolist()]
        return self.fold(
            block, buffers.hashed.first(rows, features), buffers.text,
            lines=lines, skipped=wrong, notes=notes, remarks=remarks,
        )  # fmt: skip

    def _describe(
        self, text: NDArray[np.uint8], line: int, code: int, start: int, stop: int, column: int
    ) -> RowError:
        excerpt = text[start : min(stop, start + EXCERPT)].tobytes()
        if code == UNKNOWN_LABEL:
            assert self.label_rule is not None
            what: str = self.label_rule.describe_unknown(excerpt.decode("utf-8", "replace"))
        else:
            what = describe(code, excerpt)
        return RowError(
            line, Message(f"column {self.columns.names[column]}: ", what) if column >= 0 else what
        )


def _byte_array(text: bytes) -> NDArray[np.uint8]:
    """Writable, as all other arrays are that kernels take for names."""
    return np.array(bytearray(text), np.uint8)


def _rule_arrays(rule: LabelRule | None) -> structs.LabelTable:
    """The names sorted by length, then bytes; their ends and values; whether others have one, and which."""
    known: dict[bytes, float] = {}
    otherwise = None
    if rule is not None:
        known = {name.encode(): value for name in rule.spelt if (value := rule.value(name)) is not None}
        otherwise = rule.otherwise
    names = sorted(known, key=lambda name: (len(name), name))
    return structs.LabelTable(
        _byte_array(b"".join(names)),
        np.cumsum([len(name) for name in names], dtype=np.int64),
        np.array([known[name] for name in names], np.float64),
        otherwise is not None,
        otherwise or 0.0,
    )
