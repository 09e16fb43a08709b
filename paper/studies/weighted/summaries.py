"""Selecting and averaging rows of a table; the names of the approaches."""

from collections.abc import Iterable, Sequence

import numpy as np

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


def select_rows(rows: Iterable[Row], **wanted: Cell) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def values(rows: Iterable[Row], name: str) -> list[Cell]:
    """The distinct values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[name] for row in rows))


def mean(rows: Sequence[Row], name: str) -> float:
    return float(np.mean([float(row[name]) for row in rows]))


def mean_by(rows: Sequence[Row], name: str, measured: str) -> dict[float, float]:
    """The mean of a measure for each value of a column."""
    return {float(value): mean(select_rows(rows, **{name: value}), measured) for value in values(rows, name)}


def best_rate(rows: Sequence[Row], measured: str = "log_loss") -> tuple[float, float]:
    """The rate with the lowest mean, and that mean."""
    means = mean_by(rows, "rate", measured)
    rate = min(means, key=means.__getitem__)
    return rate, means[rate]


def explain_verdict(found: Verdict, reason: str, held: int = 0, of: int = 0) -> str:
    """The reason if the claim holds; if it holds in part, also on how many data sets."""
    if found is Verdict.FAILS:
        return "The reason is not known."
    return f"On {held} of {of} sets. {reason}" if found is Verdict.PARTLY else reason


def format_range(numbers: Sequence[float], form: str) -> str:
    """Format a range, from the smallest to the largest.

    >>> format_range([2.0, 1.0], ".1f"), format_range([1.01, 1.0], ".1f")
    ('1.0 to 2.0', '1.0')
    """
    low, high = (format(number, form) for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def describe_shuffles(rows: Sequence[Row]) -> str:
    """What a caption says about averaging."""
    shuffles = len(values(rows, "seed"))
    return "one shuffle" if shuffles == 1 else f"mean of {shuffles} shuffles"
