"""Ready-made sparse rows: what an Arrow table with the columns `indices` and `values` holds.

| column | type | |
|---|---|---|
| `label` | float64 | null: the row has none |
| `importance` | float64 | absent: all 1 |
| `base` | float64 | absent: nothing is added |
| `tag` | binary or string | null: none |
| `indices`, `values` | lists of int32 or int64, and of float32 or float64 | a row's features |

Of a table of our own making we know that no row names a feature twice, of any other we look. That
indices are in range and numbers finite is looked at always, a chunk at a time and quickly; only if
something is amiss it is looked at row by row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import LARGEST, Examples
from steelyard.io import buffers
from steelyard.io.batches import Batch
from steelyard.io.faults import Faults, said
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.rebatch import gathered
from steelyard.learn import rows
from steelyard.text import assemble

LABEL, INDICES, VALUES = "label", "indices", "values"
COLUMNS = (LABEL, "importance", "base", "tag", INDICES, VALUES)


def is_ready(schema: Any) -> bool:
    """Whether the rows of a table are ready-made: no ordinary column holds lists."""
    return INDICES in schema.names and "list" in str(schema.field(INDICES).type)


def parse(batch: Batch, features: int) -> ParsedBlock:
    """Check and wrap a chunk of rows, leaving out those that are wrong.

    Raises ValueError, or what pyarrow raises, for a table that cannot be read at all.
    """
    table = batch.rows
    table.validate()
    found = _columns(table)
    faults = Faults(table.num_rows)
    if not _sound(found, features):
        _look(found, features, faults)
    kept = faults.sound
    indptr, indices, values = found.csr_of(kept) if faults else found.csr()
    if batch.header is None:
        indptr, indices, values = _distinct(indptr, indices, values, features)
    offsets = None if found.offsets is None or not found.offsets[kept].any() else frozen(found.offsets[kept])
    return ParsedBlock(
        batch,
        Examples(
            frozen(indptr), frozen(indices), frozen(values), False, features,
            frozen(found.labels[kept]), frozen(found.sample_weight[kept]), offsets,
        ),
        table.num_rows,
        skipped=len(faults),
        notes=faults.notes,
        tags=None if found.tags is None else found.tags.spans[kept],
        text=None if found.tags is None else found.tags.text,
        remarks=frozenset(f"the column {name!r} is not used" for name in {*table.schema.names} - {*COLUMNS}),
    )  # fmt: skip


def no_rows(features: int) -> Examples:
    """As `parse` gives them."""
    reals = frozen(np.zeros(0))
    entries = frozen(np.zeros(0, np.int32)), frozen(np.zeros(0, np.float32))
    return Examples(frozen(np.zeros(1, np.int64)), *entries, False, features, reals, reals)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Read-only, as what is mapped is: kernels are compiled for one kind of arrays then, not for two."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class _Columns:
    labels: NDArray[np.float64]
    unlabelled: NDArray[np.bool_]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64] | None
    tags: buffers.Texts | None
    indices: buffers.Lists
    values: buffers.Lists

    def csr(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Of sound rows."""
        return self.indices.offsets, self.indices.entries, self.values.entries

    def csr_of(self, kept: Any) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Of the rows that are kept."""
        lengths = np.diff(self.indices.offsets)[kept]
        indices, values = (
            gathered(lists.entries, lists.offsets[:-1][kept], lengths)
            for lists in (self.indices, self.values)
        )
        return np.concatenate([[0], np.cumsum(lengths)]), indices, values


def _columns(table: Any) -> _Columns:
    names = table.schema.names
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise ValueError(f"there are two columns {twice[0]!r}")
    if VALUES not in names:
        raise ValueError(f"there is a column {INDICES!r} but no {VALUES!r}; ready-made rows have both")
    count = table.num_rows
    labels, unlabelled = np.full(count, np.nan), np.ones(count, np.bool_)
    if "label" in names:
        labels, unlabelled = _reals(table, "label"), buffers.nulls(table.column("label"))
    sample_weight = _reals(table, "importance") if "importance" in names else np.ones(count)
    if unlabelled.any():  # such a row is predicted only
        fine = (sample_weight >= 0.0) & np.isfinite(sample_weight)
        sample_weight = np.where(unlabelled & fine, 0.0, sample_weight)
    return _Columns(
        labels,
        unlabelled,
        sample_weight,
        _reals(table, "base") if "base" in names else None,
        buffers.texts(table.column("tag")) if "tag" in names else None,
        buffers.lists(table.column(INDICES), -1, "int64", "int32"),
        buffers.lists(table.column(VALUES), np.nan, "float64", "float32"),
    )


def _reals(table: Any, name: str) -> NDArray[np.float64]:
    return buffers.numbers(table.column(name), np.nan, "float64")


def _sound(found: _Columns, features: int) -> bool:
    """Whether all is well with all rows: two quick passes over the features, some over the rows."""
    indptr, indices, values = found.csr()
    unsigned, bits = indices.view(f"u{indices.itemsize}"), values.view(f"u{values.itemsize}")
    all_bits, no_sign = np.invert(unsigned.dtype.type(0)), np.invert(bits.dtype.type(0)) >> bits.dtype.type(1)
    largest = rows.largest_size(unsigned, all_bits)  # a negative index is a large one
    size = np.array([rows.largest_size(bits, no_sign)], bits.dtype).view(values.dtype)[0]
    return bool(
        np.array_equal(indptr, found.values.offsets)
        and not (found.indices.nulls.any() or found.values.nulls.any())
        and (largest < features or len(indices) == 0)
        and size <= LARGEST[values.dtype.name]
        and np.all(np.isfinite(found.labels) | found.unlabelled)
        and np.all((found.sample_weight >= 0.0) & np.isfinite(found.sample_weight))
        and (found.offsets is None or np.isfinite(found.offsets).all())
    )


def _look(found: _Columns, features: int, faults: Faults) -> None:
    """The same row by row."""
    indices, values = found.indices, found.values
    faults.add_labels(found.labels, found.unlabelled)
    faults.add_importances(found.sample_weight)
    if found.offsets is not None:
        faults.add_bases(found.offsets)
    faults.add(
        indices.nulls | values.nulls,
        lambda _: "the features are null; a row without features has empty lists",
    )
    lengths = np.diff(indices.offsets), np.diff(values.offsets)
    faults.add(
        lengths[0] != lengths[1],
        lambda row: f"there are {lengths[0][row]} indices but {lengths[1][row]} values",
    )
    faults.add_entries(
        indices.offsets,
        (indices.entries < 0) | (indices.entries >= features),
        lambda place: (
            f"the feature index {indices.entries[place]} is out of range (or null): "
            f"there are {features} features"
        ),
    )
    largest = LARGEST[values.entries.dtype.name]
    faults.add_entries(
        values.offsets,
        ~(np.abs(values.entries) <= largest),
        lambda place: (
            f"the feature value {said(values.entries[place])} must be finite, and below {largest:g} "
            "or its square overflows"
        ),
    )


def _distinct(
    indptr: NDArray[np.int64], indices: NDArray[Any], values: NDArray[Any], features: int
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Features that a row names twice merged into one with their sum, at the place of the first."""
    if rows.increasing_within(indptr, indices, features):
        return indptr, indices, values
    longest = int(np.diff(indptr).max())
    table = np.full(1 << max(2 * longest - 1, 15).bit_length(), -1, np.int64)
    merged = np.zeros_like(indptr), np.empty_like(indices), np.empty_like(values)
    none, no_names = np.zeros(0, np.int64), np.zeros(0, np.uint32)
    count, _ = assemble.fold(
        indptr[1:], indices, values, -1, table, 0, no_names, no_names, *merged,
        none, none, np.zeros((0, 1), np.int32),
    )  # fmt: skip
    if count == len(indices):
        return indptr, indices, values
    return merged[0], merged[1][:count], merged[2][:count]
