"""The parts of a pool that has grown, and the random order in which its rows are considered."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active import counter_rng
from steelyard.active.attempt import fingerprint
from steelyard.examples import Examples

_POOL_ORDER = 1 << 40  # where the purposes of these random numbers begin


def pool_parts(rows: Examples, about: dict[str, Any] | None) -> list[list[int]]:
    """Size and checksum of each part: those that a journal is `about`, then what is new."""
    sizes = [size for size, _ in (about or {}).get("parts") or []]
    if sum(sizes) < len(rows):
        sizes.append(len(rows) - sum(sizes))
    ends = np.cumsum([0, *sizes])
    return [
        [end - start, fingerprint(rows if end - start == len(rows) else rows.take(np.arange(start, end)))]
        for start, end in zip(ends[:-1].tolist(), np.minimum(ends[1:], len(rows)).tolist(), strict=True)
    ]


def pool_order(seed: int, sizes: list[int]) -> NDArray[np.int64]:
    """The rows in a random order, part by part."""
    firsts = np.cumsum([0, *sizes]).tolist()
    orders = [counter_rng.order(seed, _POOL_ORDER + k, size) + firsts[k] for k, size in enumerate(sizes)]
    return np.concatenate([np.zeros(0, np.int64), *orders])
