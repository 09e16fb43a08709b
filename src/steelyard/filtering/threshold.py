"""The threshold of `fraction`: the score that this share of a sample of rows reaches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.filtering.blocks import Task, UnreadableFileError, score, tasks
from steelyard.filtering.inputs import Input, Preparer
from steelyard.filtering.scorer import Scorers
from steelyard.io.errors import InputError
from steelyard.io.read_ahead import map_ahead

MOST_FILES = 64
_RESERVOIR = 1 << 20  # scores that are held


@dataclass(frozen=True)
class Threshold:
    """Rows with a score of at least `value` are kept."""

    score: str
    value: float
    rows: int
    """How many were sampled, from the beginnings of so many files,"""
    files: int
    share: float
    """and which share of them reaches it: more than was asked for where scores are equal."""


class _Reservoir:
    """A uniform sample of a stream: the scores with the smallest random keys."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._keys, self.scores = np.zeros(0), np.zeros(0)

    def add(self, scores: NDArray[np.float64]) -> None:
        keys = np.concatenate([self._keys, self._random.random(len(scores))])
        scores = np.concatenate([self.scores, scores])
        if len(keys) > _RESERVOIR:
            chosen = np.argpartition(keys, _RESERVOIR)[:_RESERVOIR]
            keys, scores = keys[chosen], scores[chosen]
        self._keys, self.scores = keys, scores


def find(
    inputs: Sequence[Input], preparer: Preparer, scorers: Scorers, by: str, fraction: float, *,
    rows: int, seed: int, threads: int, skip_errors: bool = False,
) -> Threshold:  # fmt: skip
    """Read about so many rows, as many from each of up to 64 files that are drawn; then choose."""
    drawn = np.random.default_rng(seed).permutation(len(inputs))[:MOST_FILES]
    reservoir, seen, files = _Reservoir(seed), 0, 0
    for number in sorted(drawn.tolist()):
        wanted = -(-(rows - seen) // (len(drawn) - files))
        try:
            for scores in _scores(inputs[number], preparer, scorers, by, threads):
                reservoir.add(scores)
                seen += len(scores)
                wanted -= len(scores)
                if wanted <= 0:
                    break
        except UnreadableFileError as error:
            if not skip_errors:
                raise error.with_remedy(others=len(inputs) > 1) from None
        files += 1
        if seen >= rows:
            break
    found = np.sort(reservoir.scores)[::-1]
    if not len(found):
        raise InputError("there is no row from which to choose a threshold")
    value = float(found[max(0, round(fraction * len(found)) - 1)])
    return Threshold(by, value, seen, files, float(np.mean(found >= value)))


def _scores(
    each: Input, preparer: Preparer, scorers: Scorers, by: str, threads: int
) -> Iterator[NDArray[np.float64]]:
    def work(task: Task) -> Any:
        if task.block is None:
            return np.zeros(0)
        return score(task.prepared, task.block, scorers).scores[by]

    yield from map_ahead(work, tasks([each], preparer, lambda _: 0), threads)
