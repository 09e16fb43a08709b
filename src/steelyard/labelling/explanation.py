"""Which words decide: a text in pieces, with the strength of words for or against a class."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.text import hashing

Piece = tuple[str, int]
LEVELS = 3
_WORD = re.compile("[0-9A-Za-z\u0080-\U0010ffff]+")  # as in text/tokens.py: all beyond ASCII are letters
_MOST, _LEAST = 8, 0.35  # words that are shown, and how strong, as a share of the strongest


def pieces(
    fields: dict[str, Any], names: Sequence[str], coefficients: NDArray[np.floating[Any]]
) -> dict[str, list[Piece]]:
    """Every text in pieces: the text of each, and −3 to 3 where a word decides, else 0."""
    strengths: dict[str, dict[str, float]] = {}
    for name in names:
        words = {found[0] for found in _WORD.finditer(_text(fields.get(name)))}
        seed = hashing.column_key(name)
        strengths[name] = {word: _coefficient(word, seed, coefficients) for word in words}
    sizes = sorted((abs(each) for own in strengths.values() for each in own.values()), reverse=True)
    top = sizes[0] if sizes else 0.0
    least = max(sizes[min(_MOST, len(sizes) - 1)], _LEAST * top) if top > 0.0 else np.inf
    return {name: _cut(_text(fields.get(name)), strengths[name], least, top) for name in names}


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _coefficient(word: str, seed: int, coefficients: NDArray[np.floating[Any]]) -> float:
    text = np.frombuffer(
        word.encode("utf-8", "replace").lower(), np.uint8
    )  # ASCII letters only, as readers do
    with np.errstate(over="ignore"):
        key = int(hashing.key(text, 0, len(text), seed))
    return float(coefficients[key & (len(coefficients) - 1)])


def _cut(text: str, strengths: dict[str, float], least: float, top: float) -> list[Piece]:
    found: list[Piece] = []
    end = 0
    for match in _WORD.finditer(text):
        strength = strengths[match[0]]
        if abs(strength) >= least:
            if match.start() > end:
                found.append((text[end : match.start()], 0))
            level = max(round(LEVELS * abs(strength) / top), 1)
            found.append((match[0], level if strength > 0.0 else -level))
            end = match.end()
    if end < len(text):
        found.append((text[end:], 0))
    return found
