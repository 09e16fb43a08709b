"""Which words decide: texts in pieces, with the strength of words for or against a class."""

import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.text import hashing
from steelyard.token_rules import ASCII

Piece = tuple[str, int]
"""A part of a text and its level: −3 to 3 if it is a word that decides, otherwise 0."""
LEVELS = 3
# The letters are ranges of bytes; the bytes of a character beyond ASCII are all letters.
_RANGES = (f"{chr(first)}-{chr(last if last < 0x80 else sys.maxunicode)}" for first, last in ASCII.letters)
_WORD = re.compile(f"[{''.join(_RANGES)}]+")
_MOST, _LEAST = 8, 0.35  # words that are marked, and their least strength as a share of the strongest


def pieces(
    fields: dict[str, Any], names: Sequence[str], coefficients: NDArray[np.floating[Any]]
) -> dict[str, list[Piece]]:
    """The texts of these fields, in pieces."""
    strengths: dict[str, dict[str, float]] = {}
    for name in names:
        words = {match[0] for match in _WORD.finditer(_text(fields.get(name)))}
        seed = hashing.column_key(name)
        strengths[name] = {word: _coefficient(word, seed, coefficients) for word in words}
    sizes = sorted((abs(value) for own in strengths.values() for value in own.values()), reverse=True)
    top = sizes[0] if sizes else 0.0
    least = max(sizes[min(_MOST, len(sizes) - 1)], _LEAST * top) if top > 0.0 else np.inf
    return {name: _cut(_text(fields.get(name)), strengths[name], least, top) for name in names}


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _coefficient(word: str, seed: int, coefficients: NDArray[np.floating[Any]]) -> float:
    lower = word.encode("utf-8", "replace").lower()  # bytes: ASCII letters only, as readers do
    text = np.frombuffer(lower, np.uint8)
    with np.errstate(over="ignore"):
        key = int(hashing.key(text, 0, len(text), seed))
    return float(coefficients[key & (len(coefficients) - 1)])


def _cut(text: str, strengths: dict[str, float], least: float, top: float) -> list[Piece]:
    cut: list[Piece] = []
    end = 0
    for match in _WORD.finditer(text):
        strength = strengths[match[0]]
        if abs(strength) >= least:
            if match.start() > end:
                cut.append((text[end : match.start()], 0))
            level = max(round(LEVELS * abs(strength) / top), 1)
            cut.append((match[0], level if strength > 0.0 else -level))
            end = match.end()
    if end < len(text):
        cut.append((text[end:], 0))
    return cut
