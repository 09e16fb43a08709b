"""Rows of a table, chosen and averaged; how the ways to learn are called and coloured."""

from collections.abc import Iterable, Sequence

import numpy as np

from paper.drawing import COLOURS
from paper.study import Cell, Row, Verdict

NAMES = {
    "ignored": "weights ignored",
    "unweighted": "weights ignored",
    "copies": "copies",
    "explicit": "multiplication",
    "rejection": "rejection sampling",
    "costing": "costing",
    "implicit": "implicit",
    "invariant": "invariant",
}
SHADES = {
    **COLOURS,
    "ignored": COLOURS["passive"],
    "unweighted": COLOURS["passive"],
    "copies": "#E69F00",
    "rejection": "#56B4E9",
    "costing": "#CC79A7",
}
MARKERS = {
    "ignored": "x",
    "unweighted": "x",
    "copies": "s",
    "explicit": "v",
    "rejection": "D",
    "costing": "P",
    "implicit": "^",
    "invariant": "o",
}


def where(rows: Iterable[Row], **wanted: Cell) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def values(rows: Iterable[Row], name: str) -> list[Cell]:
    """The different ones, in the order of the rows."""
    return list(dict.fromkeys(row[name] for row in rows))


def mean(rows: Sequence[Row], name: str) -> float:
    return float(np.mean([float(row[name]) for row in rows]))


def by(rows: Sequence[Row], name: str, measured: str) -> dict[float, float]:
    """The mean of what was measured, for each value of a column."""
    return {float(value): mean(where(rows, **{name: value}), measured) for value in values(rows, name)}


def best(rows: Sequence[Row], measured: str = "log_loss") -> tuple[float, float]:
    """The rate at which the mean is least, and that mean."""
    means = by(rows, "rate", measured)
    rate = min(means, key=means.__getitem__)
    return rate, means[rate]


def verdict(held: int, of: int) -> Verdict:
    """Of a claim that was tried on several sets."""
    if held == of:
        return Verdict.HOLDS
    return Verdict.PARTLY if held else Verdict.FAILS


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
