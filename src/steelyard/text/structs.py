"""What readers pass to kernels, by name, and what kernels fill in."""

from typing import NamedTuple

from steelyard.native.kinds import (
    ByteRows,
    Bytes,
    Count,
    Counts,
    IntRows,
    Ints,
    Keys,
    Number,
    Numbers,
    Shorts,
    Switch,
    Switches,
    Values,
)


class Heads(NamedTuple):
    """The columns of rows (see `features.HashedRows`)."""

    labels: Numbers
    sample_weight: Numbers
    offsets: Numbers
    tags: IntRows
    ends: Counts
    distinct: Switches


class Features(NamedTuple):
    """The columns of features, of all rows."""

    keys: Keys
    values: Values
    fields: Shorts
    starts: Ints
    stops: Ints
    origins: Ints


class CellPlan(NamedTuple):
    """The role of each column, the seed of its keys and its field; and words for missing cells, padded."""

    roles: Counts
    seeds: Counts
    fields: Shorts
    missing: ByteRows
    missing_sizes: Counts


class LabelTable(NamedTuple):
    """The names of labels, one after another up to their ends, and their values; and that of all others, if any."""

    names: Bytes
    ends: Counts
    values: Numbers
    others: Switch
    otherwise: Number


class TokenOptions(NamedTuple):
    """The longest word n-gram, the shortest and longest character n-gram, how repeated tokens count, and which bits of
    a key are its index."""

    words: Count
    least: Count
    most: Count
    repeated: Count
    mask: Count


class Window(NamedTuple):
    """Memory in which `words` notes what it knows of a part of a text."""

    lowered: Bytes
    edges: Ints
    pieces: Bytes
    fours: Keys
    odd: Keys
    special: Ints
    keys: Keys
    begins: Ints
    stops: Ints
    grams: Keys


class Scratch(NamedTuple):
    """Memory for merging the tokens of a text: a hash table of keys, and each key, its count and its first place."""

    table: Keys
    known: Keys
    counts: Ints
    firsts: Ints
    window: Window


class ColumnPlan(NamedTuple):
    """The role of each column of features, its place among all columns, its place in `spans` (start and stop in the
    text for every row) or in `reals` (NaN: missing), its seed and its field."""

    roles: Counts
    columns: Counts
    places: Counts
    seeds: Counts
    fields: Shorts


class FoldOutput(NamedTuple):
    """Memory for folded rows, and for new keys: the index, the key, and the place of the feature or features."""

    indptr: Counts
    indices: Ints
    values: Values
    new: Counts
    new_key: Counts
    new_place: IntRows


class HashTable(NamedTuple):
    """Keys become indices by a mask; a hash table finds those that a row has twice. `serial` is above all in it."""

    mask: Count
    table: Counts
    serial: Count
