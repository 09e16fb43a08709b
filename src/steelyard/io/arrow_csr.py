"""Sparse rows in Arrow: a table with the columns `indices` and `values`, as `steelyard convert` writes it.

| column | type | |
|---|---|---|
| `label` | float64 | null: the row has none |
| `importance` | float64 | absent: all 1 |
| `base` | float64 | absent: nothing is added |
| `tag` | binary or string | null: none |
| `indices`, `values` | lists of int32 or int64, and of float32 or float64 | a row's features |

In a converted file no row names a feature twice; in any other table that is checked. That indices
are in range and numbers finite is always checked.

A converted file also has a header: for how many features it is made, how the original was read, and
the names of features. The header is JSON in the metadata of the schema, at the beginning of a file.
Names are known only once all rows are written, so they come last: in the metadata of a last, empty
batch of an IPC file, in the footer of a Parquet file. They are a compressed Arrow table, in base 64,
because other programs take metadata for text.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import LARGEST, Examples, sizes
from steelyard.features import Candidates, Names, new_hash_table
from steelyard.io import arrow_arrays
from steelyard.io.arrow_arrays import gather, import_pyarrow
from steelyard.io.blocks import Block, Compose, ParsedBlock
from steelyard.io.errors import InputError, RowErrors, show
from steelyard.learn import rows
from steelyard.text import assemble, structs

KEY = b"steelyard"
NAMES_KEY = b"steelyard-names"
VERSION = 1
NO_TEXT: NDArray[np.uint8] = np.zeros(0, np.uint8)
LABEL, INDICES, VALUES = "label", "indices", "values"
COLUMNS = (LABEL, "importance", "base", "tag", INDICES, VALUES)


@dataclass(frozen=True)
class ArrowBlock(Block):
    """Some rows of an Arrow table; or the names of its features, which come last and without rows."""

    unit: ClassVar[str] = "row"
    rows: Any = None  # a RecordBatch
    header: "Header | None" = None
    names: bytes | None = None

    def first(self, lines: int) -> Self:
        """The first of its rows."""
        return replace(self, rows=self.rows.slice(0, lines))


def is_sparse(schema: Any) -> bool:
    """Whether a table has sparse rows: no ordinary column holds lists."""
    return INDICES in schema.names and "list" in str(schema.field(INDICES).type)


def parse(batch: ArrowBlock, features: int) -> ParsedBlock:
    """Check and wrap a chunk of rows, leaving out those that are wrong.

    Raises ValueError, or what pyarrow raises, for a table that cannot be read at all.
    """
    table = batch.rows
    table.validate()
    found = _columns(table)
    errors = _check(found, features)
    kept = errors.good_rows
    indptr, indices, values = found.csr(kept)
    if batch.header is None:
        indptr, indices, values = _merge_repeated(indptr, indices, values, features)
    offsets = None if found.offsets is None or not found.offsets[kept].any() else found.offsets[kept]
    return ParsedBlock(
        batch,
        Examples(
            indptr, indices, values, False, features, found.labels[kept], found.sample_weight[kept], offsets,
        ),
        table.num_rows,
        skipped=len(errors),
        notes=errors.first(batch.described),
        tags=None if found.tags is None else found.tags.spans[kept],
        text=None if found.tags is None else found.tags.text,
        remarks=frozenset(f"the column {name!r} is not used" for name in {*table.schema.names} - {*COLUMNS}),
    )  # fmt: skip


def no_rows(features: int) -> Examples:
    """No examples, as `parse` returns them."""
    entries = np.zeros(0, np.int32), np.zeros(0, np.float32)
    return Examples(np.zeros(1, np.int64), *entries, False, features, np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class _Columns:
    labels: NDArray[np.float64]
    unlabelled: NDArray[np.bool_]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64] | None
    tags: arrow_arrays.Texts | None
    indices: arrow_arrays.Lists
    values: arrow_arrays.Lists

    def csr(self, kept: NDArray[np.int64] | slice) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """The rows that are kept; a slice keeps all."""
        if isinstance(kept, slice):
            return self.indices.offsets, self.indices.entries, self.values.entries
        lengths = np.diff(self.indices.offsets)[kept]
        indices, values = (
            gather(lists.entries, lists.offsets[:-1][kept], lengths) for lists in (self.indices, self.values)
        )
        return np.concatenate([[0], np.cumsum(lengths)]), indices, values


def _columns(table: Any) -> _Columns:
    names = table.schema.names
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise ValueError(f"there are two columns {twice[0]!r}")
    if VALUES not in names:
        raise ValueError(f"there is a column {INDICES!r} but no {VALUES!r}; sparse rows have both")
    count = table.num_rows
    labels, unlabelled = np.full(count, np.nan), np.ones(count, np.bool_)
    if "label" in names:
        labels, unlabelled = _reals(table, "label"), arrow_arrays.nulls(table.column("label"))
    sample_weight = _reals(table, "importance") if "importance" in names else np.ones(count)
    if unlabelled.any():  # such a row is predicted only
        fine = (sample_weight >= 0.0) & np.isfinite(sample_weight)
        sample_weight = np.where(unlabelled & fine, 0.0, sample_weight)
    return _Columns(
        labels,
        unlabelled,
        sample_weight,
        _reals(table, "base") if "base" in names else None,
        arrow_arrays.read_texts(table.column("tag")) if "tag" in names else None,
        arrow_arrays.read_lists(table.column(INDICES), -1, "int64", "int32"),
        arrow_arrays.read_lists(table.column(VALUES), np.nan, "float64", "float32"),
    )


def _reals(table: Any, name: str) -> NDArray[np.float64]:
    return arrow_arrays.to_numpy(table.column(name), np.nan, "float64")


def _check(found: _Columns, features: int) -> RowErrors:
    """What is wrong with which row. Features are searched for it only if their largest size is too large."""
    indices, values = found.indices, found.values
    errors = RowErrors(len(found.labels))
    errors.add_labels(found.labels, found.unlabelled)
    errors.add_weights(found.sample_weight)
    if found.offsets is not None:
        errors.add_offsets(found.offsets)
    errors.add(
        indices.nulls | values.nulls,
        lambda _: "the features are null; a row without features has empty lists",
    )
    lengths = np.diff(indices.offsets), np.diff(values.offsets)
    errors.add(
        lengths[0] != lengths[1],
        lambda row: f"there are {lengths[0][row]} indices but {lengths[1][row]} values",
    )
    unsigned = indices.entries.view(f"u{indices.entries.itemsize}")
    all_bits = np.invert(unsigned.dtype.type(0))
    if len(unsigned) and rows.sizes(unsigned, all_bits)[1] >= features:  # a negative index is a large one
        errors.add_entries(
            indices.offsets,
            (indices.entries < 0) | (indices.entries >= features),
            lambda place: (
                f"the feature index {indices.entries[place]} is out of range (or null): "
                f"there are {features} features"
            ),
        )
    largest = LARGEST[values.entries.dtype.name]
    if not sizes(values.entries)[1] <= largest:
        errors.add_entries(
            values.offsets,
            ~(np.abs(values.entries) <= largest),
            lambda place: (
                f"the feature value {show(values.entries[place])} must be finite, and below {largest:g} "
                "or its square overflows"
            ),
        )
    return errors


def _merge_repeated(
    indptr: NDArray[np.int64], indices: NDArray[Any], values: NDArray[Any], features: int
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Merge features that a row names twice: their sum, at the place of the first."""
    if rows.increasing_within(indptr, indices, features):
        return indptr, indices, values
    longest = int(np.diff(indptr).max())
    none, no_names = np.zeros(0, np.int64), np.zeros(0, np.uint32)
    merged = structs.FoldOutput(
        np.zeros_like(indptr), np.empty(len(indices), np.int32), np.empty_like(values),
        none, none, np.zeros((0, 1), np.int32),
    )  # fmt: skip
    count, _ = assemble.fold(
        indptr[1:], np.zeros(0, np.bool_), indices.astype(np.uint32), values,
        structs.HashTable(-1, new_hash_table(longest), 0), no_names, no_names, merged,
    )  # fmt: skip
    if count == len(indices):
        return indptr, indices, values
    return merged.indptr, merged.indices[:count].view(np.uint32).astype(indices.dtype), merged.values[:count]


@dataclass(frozen=True)
class Header:
    """The number of features that the rows are made for, and how the original was read."""

    features: int
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bits(self) -> int | None:
        """The features as a power of two, if they are one."""
        bits = max(self.features.bit_length() - 1, 0)
        return bits if self.features == 1 << bits else None

    def metadata(self) -> dict[bytes, bytes]:
        """The header as metadata of a schema."""
        said = {"version": VERSION, "features": self.features, "bits": self.bits, "reading": self.reading}
        return {KEY: json.dumps(said, sort_keys=True).encode()}


def read_header(metadata: Mapping[bytes, bytes] | None, path: str) -> Header | None:
    """The header in a schema's metadata; None for a table that was not converted."""
    text = (metadata or {}).get(KEY)
    if text is None:
        return None
    try:
        said = json.loads(text)
        version = int(said["version"])
        if version <= VERSION:
            return Header(_whole(said["features"]), dict(said["reading"]))
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: its header is damaged; convert the original again") from None
    raise InputError(
        f"{path}: was written by a later steelyard (format {version}, this one reads up to {VERSION}); "
        "install a newer one, or convert the original again"
    )


def _whole(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(number)
    return number


def pack_names(names: Names) -> bytes:
    """Pack all keys, the named ones first and with their names."""
    pyarrow = import_pyarrow("names")
    arrays = names.arrays()
    named = np.searchsorted(arrays["names_first"], arrays["names_index"])
    first, lengths = arrays["names_first_key"], arrays["names_length"]
    others = np.delete(first, named), arrays["names_second_key"], arrays["names_further_key"]
    keys = np.concatenate([first[named], *others])
    offsets = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1 : len(lengths) + 1])
    offsets[len(lengths) + 1 :] = offsets[len(lengths)]
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(arrays["names_text"])]
    texts = pyarrow.Array.from_buffers(pyarrow.large_binary(), len(keys), buffers)
    batch = pyarrow.record_batch([pyarrow.array(keys), texts], ["key", "name"])
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return base64.b64encode(sink.getvalue())


def unpack_names(packed: bytes, features: int, path: str) -> tuple[Candidates, Compose]:
    """The inverse of `pack_names`, as if a chunk had all of them. An index is the low bits of a key."""
    pyarrow = import_pyarrow(path)
    try:
        with pyarrow.ipc.open_stream(base64.b64decode(packed, validate=True)) as reader:
            table = reader.read_all()
        table.validate(full=True)
        keys, names = table["key"].cast(pyarrow.int64()).to_numpy(), table["name"].to_pylist()
    except (KeyError, TypeError, ValueError, OSError, pyarrow.ArrowException):
        raise InputError(f"{path}: its names are damaged; convert the original again") from None

    def compose(places: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        chosen = [names[place] for place in places[:, 0].tolist()]
        lengths = np.array([len(name) for name in chosen], np.int32)
        return np.frombuffer(b"".join(chosen), np.uint8), lengths

    return Candidates(keys & (features - 1), keys, np.arange(len(keys), dtype=np.int32)[:, None]), compose
