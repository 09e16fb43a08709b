"""Typed columns, row by row: the keys, values and names of a slow twin."""

import numpy as np
import pytest

from steelyard.text import cells, repeats, structs, tokens
from steelyard.text.tokens import TextOptions
from tests.support import tables

CATEGORIES, TEXTS, NUMBERS = ["red", " ", "17"], ["a b", "", "b"], [0.5, np.nan, -2.0]


def joined(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([0, *map(len, texts)])
    return np.frombuffer("".join(texts).encode(), np.uint8), np.stack([ends[:-1], ends[1:]], 1).astype(
        np.int32
    )


@pytest.mark.parametrize("column", [0, 3])
def test_rows(column: int) -> None:
    text, spans = joined(CATEGORIES)
    words, word_spans = joined(TEXTS)
    copy = np.empty(len(words) + 3, np.uint8)
    cells.separate(words, word_spans, copy)
    assert copy.tobytes() == b"a b\n\nb\n"
    seeds = [tables.murmur(name) for name in (b"c", b"s", b"x")]
    plan = structs.ColumnPlan(
        np.array([cells.CATEGORY, cells.TEXT, cells.NUMBER]),
        np.array([column, column + 1, column + 2]),
        np.array([0, 1, 0]),
        np.array(seeds),
        np.array([-1, 0, 1], np.int16),
    )
    features = structs.Features(
        np.zeros(20, np.uint32), np.zeros(20, np.float32), np.zeros(20, np.int16), np.zeros(20, np.int32),
        np.zeros(20, np.int32), np.zeros(20, np.int32),
    )  # fmt: skip
    ends, distinct = np.zeros(3, np.int64), np.ones(3, np.bool_)
    with np.errstate(over="ignore"):
        count = cells.rows_of_columns(
            np.concatenate([text, copy]), np.stack([spans, word_spans + np.int32(len(text))]),
            np.array([NUMBERS]), plan, structs.TokenOptions(1, 0, 0, repeats.COUNTS, 63), repeats.scratch_for(16),
            ends, distinct, features,
        )  # fmt: skip
    columns = tables.columns(c="category", s="text", x="number")
    expected = [
        tables.row({"c": c, "s": s, "x": None if np.isnan(x) else x}, columns, TextOptions(repeated="counts"))
        for c, s, x in zip(CATEGORIES, TEXTS, NUMBERS, strict=True)
    ]
    keys, values, fields, _, _, origins = (part[:count].tolist() for part in features)
    assert ends.tolist() == [4, 6, 9]
    assert not distinct.any()  # as they do not consist of one text
    assert list(zip(keys, values, strict=True)) == [
        (key, x) for row in expected for key, x, _ in row.features
    ]
    assert fields == [-1, 1, 0, 0, -1, 1, -1, 1, 0]
    kinds = [
        (column, tokens.CATEGORY), (column + 2, tokens.NUMBER), (column + 1, tokens.WORDS),
        (column + 1, tokens.WORDS),
        (column, tokens.MISSING), (column + 2, tokens.MISSING),
        (column, tokens.CATEGORY), (column + 2, tokens.NUMBER), (column + 1, tokens.WORDS),
    ]  # fmt: skip
    assert origins == [8 * place + kind for place, kind in kinds]


@pytest.mark.parametrize("before", [0, 60, cells._NEAR])
@pytest.mark.parametrize("text", [b"", b"a\nb\n", b'"a"\n', "é\n".encode(), b"\xff\n", b"\n" * 70 + b'"'])
def test_measures_of_a_text(text: bytes, before: int) -> None:
    text = b"x" * before + text
    data = np.frombuffer(text, np.uint8)
    valid = text.decode(errors="replace").encode() == text
    for escape in (ord('"'), -1):
        expected = text.count(b"\n"), valid, escape >= 0 and b'"' in text
        assert cells.measures(data, len(data), escape) == expected
