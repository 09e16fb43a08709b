"""`Names`: the name of each index, and which names share one.

Chunks are parsed in several threads, and each reports the keys that it did not know, as candidates. These
are admitted in the order of the stream: so the first name at an index is kept, whatever the number of
threads. The first two keys at each index are stored, which suffices to recognise most keys; later keys go
into a set.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.text import feature_names

_MOST_NAMES = 1 << 20
_NOWHERE = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Candidates:
    """New features: index, key, and position among those of the chunk (several positions for a cross)."""

    indices: NDArray[np.int64]
    keys: NDArray[np.int64]
    places: NDArray[np.int32]


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

    def __init__(self, features: int, most: int = _MOST_NAMES) -> None:
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
        """Pickle without the empty places of the tables, which are most of them."""
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
