"""From keys to indices: the sparse rows of a model, interactions included; and the names that a model shows.

Readers make `HashedRows` from text. `Folding` folds the keys into 2^bits indices. An interaction multiplies
features, one from each of several fields; a field is a namespace or a column. `user*item` crosses every
feature of `user` with every one of `item`; `item*item` crosses every pair within `item` once, squares
included.

>>> interactions(["user*item", "item*item*hour"])
Interactions(fields=('user', 'item', 'hour'), crosses=((0, 1), (1, 1, 2)))

Chunks are parsed in several threads, and each reports the keys that it did not know, as candidates. These
are admitted in the order of the stream: so the first name at an index is kept, whatever the number of
threads. The first two keys at each index are stored, which suffices to recognise most keys; later keys go
into a set.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard.text import assemble, feature_names, structs
from steelyard.text.swar import SPARE

MOST_NAMES = 1 << 20
MOST_FIELDS = 8  # in one interaction: the number of features multiplies
LEAST_BITS, MOST_BITS = 1, 30
_NOWHERE = np.zeros(0, np.int32)
_NO_KEYS = (np.zeros(0, np.uint32), np.zeros(0, np.uint32))


@dataclass(frozen=True)
class Candidates:
    """New features: index, key, and position among those of the chunk (several positions for a cross)."""

    indices: NDArray[np.int64]
    keys: NDArray[np.int64]
    places: NDArray[np.int32]


_NO_CANDIDATES = Candidates(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 1), np.int32))


@dataclass(frozen=True)
class Collisions:
    """How many names share indices. `names` and `features` are equal if none does."""

    names: int
    features: int
    shared: int

    @property
    def share(self) -> float:
        """The share of names that do not have an index of their own."""
        alone = self.features - self.shared
        return (self.names - alone) / self.names if self.names else 0.0


class Names:
    """The name of each index, up to `most` of them; collisions are counted beyond that too."""

    def __init__(self, features: int, most: int = MOST_NAMES) -> None:
        self.known = np.zeros(features, np.uint32), np.zeros(features, np.uint32)
        self.most = most
        self._further: set[int] = set()
        self._named: list[NDArray[np.int64]] = []
        self._texts: list[NDArray[np.uint8]] = []
        self._lengths: list[NDArray[np.int32]] = []
        self._count = 0
        self._features = self._shared = 0

    def admit(self, candidates: Candidates) -> NDArray[np.int64]:
        """Enter new keys; returns the positions of the candidates that need a name."""
        if not len(candidates.indices):
            return np.zeros(0, np.int64)
        first, second, rest = np.empty((3, len(candidates.indices)), np.int64)
        alone, shared, further = feature_names.admit(
            candidates.indices, candidates.keys, *self.known, first, second, rest
        )
        self._features += alone
        self._shared += shared
        keys = candidates.keys[rest[:further]].tolist()
        self._further.update(key or 1 << 31 for key in keys)  # as in `known`
        named: NDArray[np.int64] = first[: min(alone, max(self.most - self._count, 0))]
        return named

    def name(self, indices: NDArray[np.int64], text: NDArray[np.uint8], lengths: NDArray[np.int32]) -> None:
        """Store these names, which follow one another in the text."""
        self._named.append(indices)
        self._texts.append(text)
        self._lengths.append(lengths)
        self._count += len(indices)

    def collisions(self) -> Collisions:
        return Collisions(self._features + self._shared + len(self._further), self._features, self._shared)

    def __len__(self) -> int:
        return self._count

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The names and the known keys, for a model file."""
        first, second = self.known
        return {
            "names_index": np.concatenate([np.zeros(0, np.int64), *self._named]),
            "names_length": np.concatenate([np.zeros(0, np.int32), *self._lengths]),
            "names_text": np.concatenate([np.zeros(0, np.uint8), *self._texts]),
            "names_first": np.flatnonzero(first),
            "names_first_key": first[first > 0],
            "names_second": np.flatnonzero(second),
            "names_second_key": second[second > 0],
            "names_further_key": np.array(sorted(self._further), np.uint32),
        }

    @classmethod
    def from_arrays(cls, features: int, arrays: dict[str, NDArray[Any]]) -> "Names":
        """Restore from what `arrays` returned: continuing is the same as never having stopped."""
        names = cls(features)
        names.known[0][arrays["names_first"]] = arrays["names_first_key"]
        names.known[1][arrays["names_second"]] = arrays["names_second_key"]
        names._features, names._shared = len(arrays["names_first"]), len(arrays["names_second"])
        names._further = set(arrays["names_further_key"].tolist())
        names.name(arrays["names_index"], arrays["names_text"], arrays["names_length"])
        return names

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the empty places of its tables, which are most of them."""
        return Names.from_arrays, (len(self.known[0]), self.arrays())

    def update(self, other: "Names") -> None:
        """Enter the names of another model, as if its rows had come after these."""
        named, texts, lengths = (other.arrays()[f"names_{part}"] for part in ("index", "text", "length"))
        stops, places = np.cumsum(lengths, dtype=np.int64), np.argsort(named, kind="stable")
        for known in other.known:
            indices = np.flatnonzero(known)
            new = indices[self.admit(Candidates(indices, known[indices].astype(np.int64), _NOWHERE))]
            new = new[np.isin(new, named)]
            at = places[np.searchsorted(named, new, sorter=places)]
            pieces = [texts[stops[k] - lengths[k] : stops[k]] for k in at.tolist()]
            if pieces:
                self.name(new, np.concatenate(pieces), lengths[at])
        self._further |= other._further

    def by_index(self) -> dict[int, str]:
        """The name of each index that has one."""
        arrays = self.arrays()
        text = arrays["names_text"].tobytes()
        ends = np.cumsum(arrays["names_length"], dtype=np.int64)
        return {
            index: text[end - length : end].decode("utf-8", "replace")
            for index, end, length in zip(
                arrays["names_index"].tolist(), ends.tolist(), arrays["names_length"].tolist(), strict=True
            )
        }


@dataclass(frozen=True)
class Interactions:
    """The crossed fields, and each cross as indices of them."""

    fields: tuple[str, ...] = ()
    crosses: tuple[tuple[int, ...], ...] = ()

    def array(self) -> NDArray[np.int64]:
        """The crosses for kernels: one a row, padded with −1."""
        order = max((len(cross) for cross in self.crosses), default=1)
        padded = [(*cross, *[-1] * (order - len(cross))) for cross in self.crosses]
        return np.array(padded, np.int64).reshape(len(padded), order)


def interactions(given: Iterable[str]) -> Interactions:
    """Parse `a*b` and the like. The fields of a cross are sorted, so that equal ones are adjacent."""
    fields: list[str] = []
    crosses = []
    for text in given:
        names = [name.strip() for name in text.split("*")]
        if not 2 <= len(names) <= MOST_FIELDS or not all(names):
            raise ValueError(
                f"the interaction {text!r} is not of the form name*name, with 2 to {MOST_FIELDS} names"
            )
        fields += [name for name in dict.fromkeys(names) if name not in fields]
        cross = tuple(sorted(fields.index(name) for name in names))
        if cross not in crosses:
            crosses.append(cross)
    return Interactions(tuple(fields), tuple(crosses))


@dataclass(frozen=True)
class HashedRows:
    """Rows of features, each a 32-bit key and a value.

    `fields` has the field of each feature among those of the interactions (−1: none); `starts` and `stops`
    are the span of its name in the text, and `origins` say what that span is. The label of a row without one
    is NaN. `tags` are spans of the text.
    """

    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64]
    tags: NDArray[np.int32]
    ends: NDArray[np.int64]
    keys: NDArray[np.uint32]
    values: NDArray[np.floating[Any]]
    fields: NDArray[np.int16]
    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    origins: NDArray[np.int32]
    distinct: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_), kw_only=True)
    """Which rows are known to have no index twice; empty if nothing is known."""
    lent: bool = field(default=True, kw_only=True)
    """Whether the arrays of features belong to somebody else: else folding may overwrite them."""

    @classmethod
    def empty(
        cls, rows: int, features: int, dtype: str, pool: BufferPool | None = None, *,
        named: bool = True, crossed: bool = True,
    ) -> "HashedRows":  # fmt: skip
        """Uninitialised arrays, of which pages that are never touched take no memory.

        If the features need no names, there is no room for spans; if none are crossed, none for fields.
        """
        types = [np.dtype(name) for name in (dtype, "u4", "i4", "i4", "i4", "i2")]
        ends = features * np.cumsum([0, *(each.itemsize for each in types)])
        buffer = np.empty(ends[-1], np.uint8) if pool is None else pool.empty(int(ends[-1]), np.uint8)
        values, keys, starts, stops, origins, fields = (
            buffer[start:end].view(each) for start, end, each in zip(ends[:-1], ends[1:], types, strict=True)
        )
        if not named:
            starts, stops, origins = starts[:0], stops[:0], origins[:0]
        if not crossed:
            fields = fields[:0]
        return cls(
            np.empty(rows), np.empty(rows), np.empty(rows), np.empty((rows, 2), np.int32),
            np.empty(rows, np.int64), keys, values, fields, starts, stops, origins,
        )  # fmt: skip

    @property
    def heads(self) -> structs.Heads:
        """What there is of each row."""
        return structs.Heads(
            self.labels, self.sample_weight, self.offsets, self.tags, self.ends, self.distinct
        )

    @property
    def features(self) -> structs.Features:
        """What there is of each feature."""
        return structs.Features(self.keys, self.values, self.fields, self.starts, self.stops, self.origins)

    def first(self, rows: int, features: int) -> "HashedRows":
        """Views of the rows and features that have been filled in."""
        return HashedRows(
            *(array[:rows] for array in self.heads[:-1]), *(array[:features] for array in self.features),
            distinct=self.distinct[:rows], lent=self.lent,
        )  # fmt: skip


class HashedRowBuffers:
    """Buffers that each thread reuses."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self._own = threading.local()

    def for_text(self, size: int) -> tuple[HashedRows, NDArray[np.int32]]:
        """Buffers for a text of this many bytes, where each row and each feature takes at least two.

        The second buffer is for the positions of blanks, of which there may be one for each byte.
        """
        kept: tuple[HashedRows, NDArray[np.int32]] | None = getattr(self._own, "kept", None)
        if kept is None or len(kept[1]) < size + SPARE:
            wanted = size // 2 + 1
            kept = HashedRows.empty(wanted, wanted, self._dtype), np.empty(size + SPARE, np.int32)
            self._own.kept = kept
        return kept


@dataclass(frozen=True)
class CsrRows:
    """CSR rows, and the features in them that were not known before."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.floating[Any]]
    candidates: Candidates


class Folding:
    """Folds chunk after chunk, from several threads at once: each has its own scratch table."""

    def __init__(self, bits: int, interactions: Interactions, names: Names | None) -> None:
        if not LEAST_BITS <= bits <= MOST_BITS:
            raise ValueError(f"bits must be from {LEAST_BITS} to {MOST_BITS}; got {bits}")
        self.features = 1 << bits
        self._crosses = interactions.array()
        self._names = names
        self._own = threading.local()
        self._indices, self._values = BufferPool(), BufferPool()

    def fold(self, hashed: HashedRows) -> CsrRows:
        """Fold the rows and merge duplicates."""
        total, longest = self._sizes(hashed)
        table, serial = self._scratch(longest, total)
        if self._names is None and not len(self._crosses) and not hashed.lent:
            return self._fold_in_place(hashed, table, serial)
        known = self._names.known if self._names is not None else _NO_KEYS
        candidates = total if self._names is not None else 0
        indptr = np.zeros(len(hashed.ends) + 1, np.int64)
        indices, values = self._indices.empty(total, np.int32), self._values.empty(total, hashed.values.dtype)
        new = np.empty(candidates, np.int64), np.empty(candidates, np.int64)
        places = np.empty((candidates, self._crosses.shape[1]), np.int32)
        scratch = structs.HashTable(self.features - 1, table, serial)
        common = scratch, *known, structs.FoldOutput(indptr, indices, values, *new, places)
        if len(self._crosses):
            chosen = np.empty(self._crosses.shape[1], np.int64)
            count, fresh = assemble.fold_crossed(
                hashed.ends, hashed.keys, hashed.values, hashed.fields, self._crosses, chosen, *common
            )
        else:
            count, fresh = assemble.fold(hashed.ends, hashed.distinct, hashed.keys, hashed.values, *common)
        found = Candidates(new[0][:fresh].copy(), new[1][:fresh].copy(), places[:fresh].copy())
        return CsrRows(indptr, indices[:count], values[:count], found)

    def _fold_in_place(self, hashed: HashedRows, table: NDArray[np.int64], serial: int) -> CsrRows:
        """Without memory for the result: what is written last is still in the caches."""
        indptr = np.zeros(len(hashed.ends) + 1, np.int64)
        count = assemble.fold_in_place(
            hashed.ends, hashed.distinct, hashed.keys, hashed.values,
            structs.HashTable(self.features - 1, table, serial), indptr,
        )  # fmt: skip
        return CsrRows(indptr, hashed.keys[:count].view(np.int32), hashed.values[:count], _NO_CANDIDATES)

    def _sizes(self, hashed: HashedRows) -> tuple[int, int]:
        """Features in total, and the most in one row; where nothing is crossed, without another kernel."""
        if len(self._crosses):
            counts = np.empty(self._crosses.max() + 1, np.int64)
            return assemble.sizes(hashed.ends, hashed.fields, self._crosses, counts)  # type: ignore[no-any-return]
        ends = hashed.ends
        if not len(ends):
            return 0, 0
        return int(ends[-1]), int((ends[1:] - ends[:-1]).max(initial=ends[0]))

    def _scratch(self, longest: int, total: int) -> tuple[NDArray[np.int64], int]:
        """This thread's hash table, large enough for the longest row, and a serial number above all in it."""
        slots = 1 << max(2 * int(longest) - 1, 15).bit_length()
        if len(getattr(self._own, "table", ())) < slots:
            self._own.table, self._own.serial = np.full(slots, -1, np.int64), 0
        serial = self._own.serial
        self._own.serial += total
        return self._own.table, serial
