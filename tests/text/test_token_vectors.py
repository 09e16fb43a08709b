"""The kernels beside the vectors to which the predictor and JavaScript are held, too."""

import json
from typing import Any

import numpy as np
import pytest

from steelyard.features import Names
from steelyard.io.columns import Column, Columns
from steelyard.io.input_spec import InputSpec
from steelyard.io.jsonl_reader import JsonReader
from steelyard.text import byte_kinds, hashing
from steelyard.text.tokens import TextOptions
from steelyard.token_rules import ASCII
from tests.support import tables
from tests.support.token_vectors import CELLS, NAMES, TEXTS, VECTORS, keys_and_values, name_of

BITS = 24


def features(name: str, cell: Any, role: str, options: TextOptions) -> tuple[dict[int, float], set[str]]:
    """What a reader makes of a single cell: values by index, and names."""
    spec = InputSpec("jsonl", BITS, columns=Columns((Column(name, role),)), text=options, dtype="float64")
    names = Names(1 << BITS)
    found = tables.read(JsonReader(spec, names), json.dumps({name: cell}).encode() + b"\n", names=names)
    (row,) = found.rows
    return {index: float(value) for index, value in row.items()}, set(found.names.values())


def index(key: int) -> int:
    return key & ((1 << BITS) - 1)


def test_the_rules_are_those_of_the_vectors() -> None:
    assert VECTORS["rules"] == ASCII.name


@pytest.mark.parametrize("vector", NAMES, ids=name_of)
def test_names(vector: dict[str, Any]) -> None:
    text = np.frombuffer(vector["name"].encode(), np.uint8)
    with np.errstate(over="ignore"):
        assert int(hashing.murmur(text, 0, len(text), vector["seed"])) == vector["hash"]
        assert int(hashing.key(text, 0, len(text), vector["seed"])) == vector["key"]


@pytest.mark.parametrize("vector", CELLS, ids=name_of)
def test_cells(vector: dict[str, Any]) -> None:
    found, _ = features("c", vector["cell"], vector["role"], TextOptions())
    assert found == {index(vector["key"]): vector["value"]}


@pytest.mark.parametrize("vector", TEXTS, ids=name_of)
def test_texts(vector: dict[str, Any]) -> None:
    options = TextOptions.from_json(vector["options"])
    found, names = features("text", vector["text"], "text", options)
    expected = keys_and_values(vector)
    assert list(found) == [index(key) for key, _ in expected]
    assert list(found.values()) == pytest.approx([value for _, value in expected], rel=1e-14)
    assert names == {f"text^{name}" for name, _, _ in vector["tokens"]}


def test_letters_and_digits_differ_in_the_bits_by_which_words_tells_numbers() -> None:
    letters = np.flatnonzero(byte_kinds.LETTERS)
    digits = letters[(letters >= ord("0")) & (letters <= ord("9"))]
    assert not np.any(digits & 0xC0)
    assert np.all(np.setdiff1d(letters, digits) & 0xC0)
