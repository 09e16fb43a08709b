"""Combinations of options: all of them, or few in which every two values of different options meet."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

Axes = dict[str, Sequence[Any]]
Point = dict[str, Any]

_DRAWN = 3000


def every(axes: Axes, valid: Callable[[Point], bool]) -> Iterator[Point]:
    for values in product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        if valid(point):
            yield point


def pairwise(axes: Axes, valid: Callable[[Point], bool]) -> list[Point]:
    """Few points with all pairs of values that occur in many points; those with the most new pairs first."""
    draw = random.Random(0)
    points = [{name: draw.choice(values) for name, values in axes.items()} for _ in range(_DRAWN)]
    candidates = [(point, set(combinations(point.items(), 2))) for point in points if valid(point)]
    met: set[Any] = set()
    chosen = []
    for least in (64, 32, 16, 8, 4, 2, 1):
        for point, pairs in candidates:
            if len(pairs - met) >= least:
                met |= pairs
                chosen.append(point)
    return chosen
