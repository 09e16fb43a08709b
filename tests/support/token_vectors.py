"""Names, cells and texts with the keys and values of their features: one set for kernels, predictor and JavaScript."""

import json
from pathlib import Path
from typing import Any

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "tokens.json").read_text("utf-8"))
NAMES: list[dict[str, Any]] = VECTORS["names"]
CELLS: list[dict[str, Any]] = VECTORS["cells"]
TEXTS: list[dict[str, Any]] = VECTORS["texts"]
"""Tokens are name, key and value, in the order of their first occurrence, in a column called text."""


def keys_and_values(text: dict[str, Any]) -> list[tuple[int, float]]:
    return [(key, value) for _, key, value in text["tokens"]]


def name_of(vector: dict[str, Any]) -> str:
    """What a test of it is called."""
    given = vector.get("text", vector.get("name", vector.get("cell")))
    return f"{given!a:.30} {vector.get('options', vector.get('seed', vector.get('role')))}"
