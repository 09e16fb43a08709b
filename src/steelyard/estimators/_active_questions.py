"""`ActiveQuestion`: a row whose label is wanted; strategies, the positive class, parts of a pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active import counter_rng, strategies
from steelyard.active.attempt import fingerprint
from steelyard.active.strategies._base import Strategy
from steelyard.examples import Examples

_POOL_ORDER = 1 << 40  # where the purposes of these random numbers begin


@dataclass(frozen=True)
class ActiveQuestion:
    """A row whose label is wanted."""

    id: int
    """For `answer`: its number in the stream, from 0."""
    row: int
    """Its row in the matrix that was given, or in the pool."""
    probability: float
    """With which it was asked for."""
    prediction: Any
    """The class that the model expects."""


def find_strategy(given: Any, kept: dict[str, Any] | None) -> Strategy:
    """An instance, or one by its name, with the parameters that a journal was started with."""
    if isinstance(given, str):
        if kept is not None and kept["strategy"]["name"] == given:
            return strategies.from_description(kept["strategy"])
        return strategies.by_name(given)
    if not isinstance(given, Strategy):
        hint = f"; give an instance, {given.__name__}()" if isinstance(given, type) else ""
        raise TypeError(f"strategy must be a name or an instance of Strategy; got {given!r}{hint}")
    return given


def choose_positive(given: Any, classes: Sequence[Any], known: NDArray[Any]) -> Any:
    """The class whose recall is meant: the one given, or the second of two in the user's own order."""
    if given is None and len(known) > 2:
        return None
    wanted = np.asarray(classes).ravel()[1] if given is None else given
    found = known[known == wanted]
    if len(found) != 1:
        raise ValueError(f"positive={given!r} is not one of the classes {known.tolist()}")
    return found.tolist()[0]


def pool_parts(chunk: Examples, kept: dict[str, Any] | None) -> list[list[int]]:
    """Rows and checksum of each part of a pool that has grown: those of the journal, then what is new."""
    sizes = [rows for rows, _ in (kept or {}).get("about", {}).get("parts") or []]
    if sum(sizes) < len(chunk):
        sizes.append(len(chunk) - sum(sizes))
    ends = np.cumsum([0, *sizes])
    return [
        [end - start, fingerprint(chunk if end - start == len(chunk) else chunk.take(np.arange(start, end)))]
        for start, end in zip(ends[:-1].tolist(), np.minimum(ends[1:], len(chunk)).tolist(), strict=True)
    ]


def pool_order(seed: int, sizes: list[int]) -> NDArray[np.int64]:
    """The rows in a random order, part by part."""
    firsts = np.cumsum([0, *sizes]).tolist()
    orders = [counter_rng.order(seed, _POOL_ORDER + k, rows) + firsts[k] for k, rows in enumerate(sizes)]
    return np.concatenate([np.zeros(0, np.int64), *orders])
