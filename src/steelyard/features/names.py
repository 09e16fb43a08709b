"""`Names`: which name stands behind each index, so that a model can be read; and which indices are shared.

Chunks are parsed in several threads, and each reports the keys that it did not find known as
candidates. They are admitted in the order of the stream: so the first name at an index is kept,
whatever the number of threads. Of the keys at an index the first two are remembered, which tells
apart the known from the new; of a third and later ones a set is kept.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.kernels import admit

MOST_NAMES = 1 << 20


@dataclass(frozen=True)
class Candidates:
    """Features that were not known: index, key, and places among the chunk's features (several, if crossed)."""

    indices: NDArray[np.int64]
    keys: NDArray[np.int64]
    places: NDArray[np.int32]


@dataclass(frozen=True)
class Collisions:
    """How far names share indices. `names` and `features` are equal if none does."""

    names: int
    features: int
    shared: int

    @property
    def share(self) -> float:
        """The part of the names that do not have their index to themselves."""
        alone = self.features - self.shared
        return (self.names - alone) / self.names if self.names else 0.0


class Names:
    """Names by index, up to a number of them; collisions are counted beyond it too."""

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
        """Take in what is new; returns which of the candidates are to be named."""
        if not len(candidates.indices):
            return np.zeros(0, np.int64)
        first, second, further = admit.admit(candidates.indices, candidates.keys, *self.known)
        self._features += len(first)
        self._shared += len(second)
        self._further.update(candidates.keys[further].tolist())
        return first[: max(self.most - self._count, 0)]

    def name(self, indices: NDArray[np.int64], text: NDArray[np.uint8], lengths: NDArray[np.int32]) -> None:
        """Keep these names, which stand one after another in the text."""
        self._named.append(indices)
        self._texts.append(text)
        self._lengths.append(lengths)
        self._count += len(indices)

    def collisions(self) -> Collisions:
        return Collisions(self._features + self._shared + len(self._further), self._features, self._shared)

    def keys(self) -> NDArray[np.uint32]:
        """Every key met: first those that have names, in the order of the names, then the others.

        Admitting them to empty `Names` gives these again, collisions included.
        """
        first, second = self.known
        named = np.concatenate([np.zeros(0, np.int64), *self._named])
        nameless = first.copy()
        nameless[named] = 0
        further = np.array(sorted(self._further), np.uint32)
        return np.concatenate([first[named], nameless[nameless != 0], second[second != 0], further])

    def __len__(self) -> int:
        return self._count

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a model file."""
        return {
            "names_index": np.concatenate([np.zeros(0, np.int64), *self._named]),
            "names_length": np.concatenate([np.zeros(0, np.int32), *self._lengths]),
            "names_text": np.concatenate([np.zeros(0, np.uint8), *self._texts]),
            "names_first": self.known[0],
            "names_second": self.known[1],
        }
