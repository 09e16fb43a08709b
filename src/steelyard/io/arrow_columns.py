"""Ordinary columns of Arrow tables: typed already, and what each is for is in `Columns`.

Numbers are integers, floats, decimals and booleans (0 and 1). Null and NaN are missing, as an empty
cell of a CSV is. Whatever becomes a category, text or tag and is no string is taken as it is written:
true, 7, 2024-05-01. Dates and times are no numbers; what a number of them should be is for the user
to say.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import LARGEST
from steelyard.features import hashing
from steelyard.features.folding import Folding, Keyed
from steelyard.features.interactions import Interactions
from steelyard.features.tokens import TextOptions
from steelyard.io import arrow_labels, arrow_numbers, buffers, extras
from steelyard.io import columns as roles
from steelyard.io.batches import Batch
from steelyard.io.columns import Columns
from steelyard.io.faults import Faults
from steelyard.io.labels import LabelRule
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.tables import byte_array
from steelyard.io.textlines import finished, room_for_problems
from steelyard.text import cells, feature_names

_KERNEL_ROLES = {roles.TEXT: cells.TEXT, roles.CATEGORY: cells.CATEGORY, roles.NUMBER: cells.NUMBER}


class TypedTable:
    """Rows of such columns for a model. A table may have its columns in another order, and others besides."""

    def __init__(
        self,
        folding: Folding,
        columns: Columns,
        text_options: TextOptions | None = None,
        interactions: Interactions | None = None,
        label_rule: LabelRule | None = None,
        dtype: str = "float32",
    ) -> None:
        crossed = (interactions or Interactions()).fields
        roles.require(crossed, [name for role in roles.FEATURES for name in columns.of(role)], "interactions")
        self._folding = folding
        self._columns = columns
        self._text_options = text_options or TextOptions()
        self._label_rule = label_rule
        self._dtype = dtype
        self._features = [column for column in columns.columns if column.role in roles.FEATURES]
        self._names = byte_array("".join(columns.names))
        self._name_ends = np.cumsum([len(name.encode()) for name in columns.names], dtype=np.int64)
        self._fields = np.array(
            [crossed.index(column.name) if column.name in crossed else -1 for column in self._features],
            np.int16,
        )

    def parse(self, batch: Batch) -> ParsedBlock:
        """The rows of a batch, without those that are wrong.

        Raises ValueError, or what pyarrow raises, for a table that cannot be read at all.
        """
        arrays, lines = _arrays(batch.rows, self._columns), batch.rows.num_rows
        found = self._found(arrays, lines)
        faults = found.faults
        if faults:
            sound = extras.pyarrow(batch.path).array(faults.sound)
            found = self._found({name: array.take(sound) for name, array in arrays.items()}, len(sound))
        parsed = self._assembled(batch, found)
        return replace(
            parsed, lines=lines, notes=faults.notes, skipped=len(faults), text=found.text,
            remarks=_remarks(batch.rows, self._columns),
        )  # fmt: skip

    def _found(self, arrays: Mapping[str, Any], rows: int) -> "_Found":
        return _Found.of(arrays, rows, self._columns, self._label_rule, self._dtype)

    def _assembled(self, batch: Batch, found: "_Found") -> ParsedBlock:
        rows, size = len(found.labels), len(found.text)
        texts = len(self._columns.of(roles.TEXT)) > 0
        tokens = self._text_options.most_tokens(size) if texts else 0
        keyed = Keyed.empty(rows, rows * len(self._features) + tokens, self._dtype)
        stops, origins = np.empty((2, len(keyed.keys)), np.int32)
        repeated = self._text_options.repeated != "counts"
        table = np.zeros(1 << max((2 * tokens).bit_length(), 4) if repeated else 16, np.int64)
        plan = (
            np.array([_KERNEL_ROLES[column.role] for column in self._features], np.int64),
            np.array([self._columns.names.index(column.name) for column in self._features], np.int64),
            np.array([found.places[column.name] for column in self._features], np.int64),
            np.array([hashing.column_key(column.name) for column in self._features], np.int64),
            self._fields,
        )
        count = cells.rows_of_columns(
            found.text, found.spans, found.reals, plan, self._text_options.array(), table, keyed.ends,
            (keyed.keys, keyed.values, keyed.fields, keyed.starts, stops, origins),
        )  # fmt: skip
        keyed = replace(
            keyed.first(rows, count),
            labels=found.labels, sample_weight=found.sample_weight, offsets=found.offsets,
            tags=found.tags,
        )  # fmt: skip

        def compose(places: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
            lengths = np.empty(len(places), np.int32)
            common = (found.text, keyed.starts, stops, origins, self._names, self._name_ends, places)
            out = np.empty(
                feature_names.compose_cell_names(*common, np.empty(0, np.uint8), lengths), np.uint8
            )
            feature_names.compose_cell_names(*common, out, lengths)
            return out, lengths

        return finished(
            batch, keyed, self._folding, lines=rows, wrong=0, problems=room_for_problems(), compose=compose
        )


@dataclass(frozen=True)
class _Found:
    """A batch in the form that the kernel takes, and what is wrong with it."""

    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64]
    text: NDArray[np.uint8]
    """All strings, one column after another."""
    tags: NDArray[np.int32]
    spans: NDArray[np.int32]
    reals: NDArray[np.float64]
    places: dict[str, int]
    """Of each feature column among the spans or the reals."""
    faults: Faults

    @classmethod
    def of(
        cls, given: Mapping[str, Any], count: int, columns: Columns, rule: LabelRule | None, dtype: str
    ) -> "_Found":
        faults = Faults(count)
        labels, sample_weight, offsets = np.full(count, np.nan), np.ones(count), np.zeros(count)
        texts: list[tuple[NDArray[np.uint8], NDArray[np.int32]]] = []
        reals: list[NDArray[np.float64]] = []
        places: dict[str, int] = {}
        tags = np.zeros((count, 2), np.int32)
        size = 0
        for column in columns.columns:
            if column.name not in given or column.role == roles.IGNORE:
                continue
            array = given[column.name]
            if column.role == roles.LABEL:
                labels = arrow_labels.labels(array, rule, columns.missing, faults)
            elif column.role in (roles.WEIGHT, roles.BASE, roles.NUMBER):
                numbers = arrow_numbers.numbers(array, column.name, columns.missing, faults)
                if column.role == roles.WEIGHT:
                    sample_weight = numbers
                    faults.add_importances(sample_weight)
                elif column.role == roles.BASE:
                    offsets = np.where(np.isnan(numbers), 0.0, numbers)
                    faults.add_bases(offsets)
                else:
                    _add_too_large(faults, numbers, column.name, LARGEST[dtype])
                    places[column.name] = len(reals)
                    reals.append(numbers)
            else:
                found = buffers.texts(array)
                text, spans = found.text, found.spans
                if column.role == roles.TEXT:
                    text = np.empty(len(found.text) + count, np.uint8)
                    cells.separate(found.text, spans, text)
                spans += np.int32(size)
                size += len(text)
                if size > np.iinfo(np.int32).max:
                    raise ValueError("one chunk has more than 2 GB of text; write it in smaller batches")
                if column.role == roles.TAG:
                    tags = spans
                places[column.name] = len(texts)
                texts.append((text, spans))
        return cls(
            labels, sample_weight, offsets,
            np.concatenate([np.zeros(0, np.uint8), *(text for text, _ in texts)]),
            tags,
            np.array([spans for _, spans in texts], np.int32).reshape(len(texts), count, 2),
            np.array(reals, np.float64).reshape(len(reals), count),
            places, faults,
        )  # fmt: skip


def _arrays(table: Any, columns: Columns) -> dict[str, Any]:
    """The columns that are known, checked in full: what they say of their own layout, and their UTF-8."""
    names = table.schema.names
    roles.require([column.name for column in columns.columns if column.role in roles.FEATURES], names)
    found = {}
    for name in columns.names:
        if names.count(name) > 1:
            raise ValueError(f"two columns are called {name!r}: rename one of them")
        if name in names:
            array = table.column(name)
            array.validate(full=True)
            found[name] = buffers.plain(array)
    return found


def _add_too_large(faults: Faults, numbers: NDArray[np.float64], name: str, largest: float) -> None:
    with np.errstate(invalid="ignore"):
        bad = np.abs(numbers) > largest
    faults.add(
        bad,
        lambda row: (
            f"column {name!r}: {numbers[row]} is infinite, or so large that its square overflows; scale it"
        ),
    )


def _remarks(table: Any, columns: Columns) -> frozenset[str]:
    unknown = [name for name in table.schema.names if name not in columns.names]
    return frozenset([f"columns that are not known are ignored: {', '.join(unknown)}"] if unknown else [])
