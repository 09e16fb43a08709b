"""Rows that stand for several examples: so many in all, and so many of them positive.

Such a row is `positives` copies of it with the positive label and `count − positives` with the negative one.
A weight is as many copies, so it is two rows: one of either label, with these weights.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.io.blocks import ParsedBlock
from steelyard.io.labels import plain

ROWS = 2  # that each becomes


def find_problems(positives: NDArray[np.float64], counts: NDArray[np.float64]) -> dict[int, str]:
    """What is wrong with which rows."""
    whole = (np.floor(positives) == positives) & (np.floor(counts) == counts)
    usable = whole & (positives >= 0.0) & (positives <= counts)  # a missing number is NaN, and none of it
    return {
        row: _describe(float(positives[row]), float(counts[row])) for row in np.flatnonzero(~usable).tolist()
    }


def _describe(positives: float, count: float) -> str:
    if np.isnan(positives):
        return "the number of positives is missing"
    return (
        f"{plain(positives)} positives of {plain(count)}: both must be whole numbers, and positives no more "
        "than there are examples"
    )


def unfold(parsed: ParsedBlock, low: float, high: float, factor: float) -> ParsedBlock:
    """Two rows for each: those with the label `low`, then those with `high`; their weights times `factor`."""
    positives, counts = parsed.examples.labels, parsed.examples.sample_weight
    twice = parsed.take(np.repeat(np.arange(len(counts)), ROWS))
    weights = factor * np.column_stack([counts - positives, positives]).ravel()
    labels = np.tile([low, high], len(counts))
    return replace(twice, examples=replace(twice.examples, labels=labels, sample_weight=weights))
