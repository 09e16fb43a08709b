"""What CSV and JSON lines have in common: columns in the form kernels take, and rows made of their cells."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import LARGEST
from steelyard.features import hashing
from steelyard.features.folding import Folding, Keyed
from steelyard.features.interactions import interactions
from steelyard.features.names import Names
from steelyard.io import columns as roles
from steelyard.io.blocks import Block, Compose, ParsedBlock, describe, finish
from steelyard.io.errors import DESCRIBED, InputError, RowError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule
from steelyard.text import cells, feature_names
from steelyard.text.lines import UNKNOWN_LABEL

_EXCERPT = 40
_CODES = {role: code for code, role in enumerate(roles.ROLES)}


def byte_array(text: str) -> NDArray[np.uint8]:
    return np.array(bytearray(text.encode()), np.uint8)


def name_composer(
    text: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    origins: NDArray[np.int32],
    names: NDArray[np.uint8],
    name_ends: NDArray[np.int64],
) -> Compose:
    """A function that writes the names of features, given their spans of the text and the column names."""

    def compose(places: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        lengths = np.empty(len(places), np.int32)
        common = (text, starts, stops, origins, names, name_ends, places)
        out = np.empty(feature_names.compose_cell_names(*common, np.empty(0, np.uint8), lengths), np.uint8)
        feature_names.compose_cell_names(*common, out, lengths)
        return out, lengths

    return compose


@dataclass(frozen=True)
class RowBuffers:
    """Arrays for the rows of one block: the text, with room behind it for decoded cells, and so on."""

    text: NDArray[np.uint8]
    room: NDArray[np.uint8]
    keyed: Keyed
    stops: NDArray[np.int32]
    origins: NDArray[np.int32]
    table: NDArray[np.int64]
    problems: NDArray[np.int64]

    @property
    def heads(self) -> tuple[Any, ...]:
        keyed = self.keyed
        return keyed.labels, keyed.sample_weight, keyed.offsets, keyed.tags, keyed.ends

    @property
    def features(self) -> tuple[Any, ...]:
        keyed = self.keyed
        return keyed.keys, keyed.values, keyed.fields, keyed.starts, self.stops, self.origins


class TableParser:
    """Columns, options and label rule in the form that kernels take."""

    def __init__(self, spec: InputSpec, names: Names | None) -> None:
        assert spec.columns is not None
        columns, crossed = spec.columns, interactions(spec.interactions)
        for field in crossed.fields:
            roles.require([field], columns.names, "interactions")
            if columns.role(field) not in roles.FEATURES:
                raise InputError(f"interactions: {field!r} is not a feature but {columns.role(field)}")
        self.columns = columns
        self.names = byte_array("".join(columns.names))
        self.name_ends = np.cumsum([len(name.encode()) for name in columns.names], dtype=np.int64)
        self._folding = Folding(spec.bits, crossed, names)
        self._dtype = spec.dtype
        self._label_rule = spec.label_rule
        self._text_options = spec.text
        self._texts = bool(columns.with_role(roles.TEXT))
        self._plain = len(columns.with_role(roles.CATEGORY)) + len(columns.with_role(roles.NUMBER))
        missing = [word.lower().encode() for word in columns.missing]
        padded = b"".join(word.ljust(max(map(len, missing)), b"\0") for word in missing)
        places = {name: place for place, name in enumerate(crossed.fields)}
        plan = (
            np.array([_CODES[column.role] for column in columns.columns], np.int64),
            np.array([hashing.column_key(name) for name in columns.names], np.int64),
            np.array([places.get(name, -1) for name in columns.names], np.int16),
            np.array(bytearray(padded), np.uint8).reshape(len(missing), -1 if missing else 0),
            np.array([len(word) for word in missing], np.int64),
        )
        self.arguments = (plan, _rule_arrays(spec.label_rule), spec.text.array(), LARGEST[spec.dtype])

    def allocate(self, block: Block, escape: int, elements: bool) -> tuple[RowBuffers, bool]:
        """Room for all that a block can hold, and whether all of it is UTF-8.

        Generous bounds cost nothing: memory that is not touched is not used.
        """
        size = len(block.text)
        lines, valid, escapes = cells.measures(block.text, size, escape)
        text, room = block.text, np.empty(0, np.uint8)
        if escapes:
            room = np.empty(2 * size, np.uint8)
            room[:size] = text
            text = room.view()
            text.flags.writeable = False
        features = lines * self._plain + (size // 2 if elements else 0)
        tokens = self._text_options.most_tokens(size) if self._texts else 0
        keyed = Keyed.empty(lines, features + tokens, self._dtype)
        slots = 1 << (2 * tokens).bit_length() if self._text_options.repeated != "counts" else 0
        ends = np.empty((2, features + tokens), np.int32)
        problems = np.empty((DESCRIBED, 5), np.int64)
        table = np.zeros(max(slots, 16), np.int64)
        return RowBuffers(text, room, keyed, ends[0], ends[1], table, problems), valid

    def finish(
        self,
        block: Block,
        buffers: RowBuffers,
        rows: int,
        features: int,
        lines: int,
        wrong: int,
        remarks: frozenset[str] = frozenset(),
    ) -> ParsedBlock:
        """The parsed block, with its errors described. Its tags are spans of the decoded text."""
        keyed, text = buffers.keyed.first(rows, features), buffers.text
        compose = name_composer(
            text, keyed.starts, buffers.stops, buffers.origins, self.names, self.name_ends
        )
        parsed = finish(
            block, keyed, self._folding, lines=lines, wrong=0,
            problems=buffers.problems, compose=compose, remarks=remarks,
        )  # fmt: skip
        notes = [self._describe(text, *problem) for problem in buffers.problems[:wrong].tolist()]
        return replace(parsed, skipped=wrong, notes=notes, text=text)

    def _describe(
        self, text: NDArray[np.uint8], line: int, code: int, start: int, stop: int, column: int
    ) -> RowError:
        excerpt = text[start : min(stop, start + _EXCERPT)].tobytes()
        if code == UNKNOWN_LABEL:
            assert self._label_rule is not None
            what = self._label_rule.describe_unknown(excerpt.decode("utf-8", "replace"))
        else:
            what = describe(code, excerpt)
        return RowError(line, f"column {self.columns.names[column]}: {what}" if column >= 0 else what)


def _rule_arrays(rule: LabelRule | None) -> tuple[Any, ...]:
    """The names sorted by length, then bytes; their ends and values; whether others have one, and which."""
    if rule is None:
        return np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.float64), False, 0.0
    known = {name.encode(): value for name in rule.names if (value := rule.value(name)) is not None}
    names = sorted(known, key=lambda name: (len(name), name))
    return (
        np.array(bytearray(b"".join(names)), np.uint8),
        np.cumsum([len(name) for name in names], dtype=np.int64),
        np.array([known[name] for name in names], np.float64),
        rule.otherwise is not None,
        rule.otherwise or 0.0,
    )
