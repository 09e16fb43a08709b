"""JSON objects one at a time → rows, for programs that talk in lines.

A number is the feature `name`, true one of value 1; a text is its words, `name^word`, each as often as it
comes. Null and false say nothing. Names are hashed, so nothing has to be known of them beforehand.

>>> row = row_of({"price": 2.5, "title": "Free, free beer"}, bits=18)
>>> sorted(row.values.tolist())
[1.0, 2.0, 2.5]
"""

import math
import re
from typing import Any

import numpy as np

from steelyard.examples import Examples
from steelyard.features import hashing
from steelyard.io.errors import InputError

_WORD = re.compile(r"\w+")


def row_of(found: Any, bits: int) -> Examples:
    """The object as an example without a label, for a model of 2^bits features."""
    if not isinstance(found, dict):
        raise InputError(f"an example is an object of names and values, not {found!r}")
    entries: dict[int, float] = {}
    for name, value in found.items():
        for key, amount in _features(name, value):
            index = key & ((1 << bits) - 1)
            entries[index] = entries.get(index, 0.0) + amount
    indices = sorted(entries)
    ends = np.array([0, len(indices)], np.int64)
    values = np.array([entries[index] for index in indices], np.float32)
    return Examples(ends, np.array(indices, np.int32), values, False, 1 << bits, np.zeros(1), np.ones(1))


def _features(name: str, value: Any) -> list[tuple[int, float]]:
    if value is None or value is False:
        return []
    if isinstance(value, str):
        return [(hashing.key(f"{name}^{word}"), 1.0) for word in _WORD.findall(value.lower())]
    if not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > 1e17:
        raise InputError(f"{name!r} is {value!r}: a value is a number, a text, true, false or null")
    return [(hashing.key(name), float(value))]
