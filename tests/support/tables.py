"""Plain twins of the readers of tables: slow, obvious, and made of the standard library."""

import itertools
import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.features import Names
from steelyard.io.blocks import ParsedBlock
from steelyard.io.columns import Column, Columns
from steelyard.io.labels import LabelRule
from steelyard.io.stream import Reader, Stream
from steelyard.text.tokens import TextOptions

MASK = (1 << 32) - 1
Feature = tuple[int, float, str]
_FOLDER = tempfile.TemporaryDirectory()


def murmur(data: bytes, seed: int = 0) -> int:
    h = seed
    for start in range(0, len(data) // 4 * 4, 4):
        h ^= _stirred(int.from_bytes(data[start : start + 4], "little"))
        h = (h << 13 | h >> 19) & MASK
        h = (h * 5 + 0xE6546B64) & MASK
    h ^= _stirred(int.from_bytes(data[len(data) // 4 * 4 :], "little")) ^ len(data)
    h = ((h ^ h >> 16) * 0x85EBCA6B) & MASK
    h = ((h ^ h >> 13) * 0xC2B2AE35) & MASK
    return h ^ h >> 16


def _stirred(k: int) -> int:
    k = k * 0xCC9E2D51 & MASK
    return (k << 15 | k >> 17) * 0x1B873593 & MASK


def key(name: str, seed: int) -> int:
    return (int(name) + seed) & MASK if re.fullmatch("[0-9]+", name) else murmur(name.encode(), seed)


def small(text: str) -> str:
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), text)


def tokens(text: str, column: str, options: TextOptions) -> list[Feature]:
    seed = murmur(column.encode())
    found: list[tuple[int, str]] = []
    words = re.findall("[0-9A-Za-z\x80-\U0010ffff]+", small(text))
    for last in range(len(words)):
        for size in range(1, min(options.words, last + 1) + 1):
            run = words[last + 1 - size : last + 1]
            keys = [key(word, seed) for word in run]
            packed = b"".join(k.to_bytes(4, "little") for k in keys)
            found.append((keys[0] if size == 1 else murmur(packed, seed), " ".join(run)))
    blanks = "[ \t\n\v\f\r]+"
    line = re.sub(blanks, " ", re.sub(f"^{blanks}|{blanks}$", "", small(text)))
    least, most = options.characters or (1, 0)
    for start in range(len(line)):
        for size in range(least, most + 1):
            if start + size <= len(line):
                run_of = line[start : start + size]
                found.append((murmur(run_of.encode(), seed ^ 0x63686172), run_of))
    if options.repeated == "counts":
        return [(k, 1.0, f"{column}^{name}") for k, name in found]
    merged: dict[int, tuple[int, str]] = {}
    for k, name in found:
        count, first = merged.get(k, (0, name))
        merged[k] = count + 1, first
    values = [1.0 if options.repeated == "binary" else 1.0 + math.log(count) for count, _ in merged.values()]
    squares = 0.0
    for value in values:
        squares += value * value
    length = math.sqrt(squares) if options.repeated == "relative" else 1.0
    return [
        (k, value / length, f"{column}^{name}")
        for (k, (_, name)), value in zip(merged.items(), values, strict=True)
    ]


class RefusedError(Exception):
    """The record is no good."""


@dataclass
class Row:
    label: float
    importance: float
    base: float
    tag: str
    features: list[Feature]


def number(text: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) or math.isinf(
        float(text)
    ):
        raise RefusedError(text)
    return float(text)


def row(
    cells: Mapping[str, Any],
    columns: Columns,
    options: TextOptions | None = None,
    rule: LabelRule | None = None,
) -> Row:
    """Cells are texts, numbers, booleans, or None for what is missing; a column may be absent."""
    missing = [word.lower() for word in columns.missing]
    found = Row(math.nan, 1.0, 0.0, "", [])
    texts: list[Feature] = []
    for name, role in [(column.name, column.role) for column in columns.columns]:
        if name not in cells or role == "ignore":
            continue
        cell, seed = cells[name], murmur(name.encode())
        if isinstance(cell, dict | list):
            if role not in ("text", "category", "number"):
                raise RefusedError(name)
            continue
        text = {True: "true", False: "false", None: ""}[cell] if isinstance(cell, bool | None) else str(cell)
        bare = text.strip(" \t\n\v\f\r")
        value = float(cell) if isinstance(cell, bool) else None
        if role == "text":
            texts += tokens(text, name, options or TextOptions())
        elif role == "category":
            found.features.append((key(bare or "missing", seed), 1.0, f"{name}={bare or 'missing'}"))
        elif role == "tag":
            found.tag = bare
        elif role == "label" and bare:
            if rule is not None and bare != "*" and bare in rule.names:
                found.label = rule.values[rule.names.index(bare)]
            elif bare.lower() in missing:
                pass
            elif rule is not None and rule.names[0] == "*":
                found.label = rule.values[0]
            elif rule is not None:
                raise RefusedError(bare)
            else:
                found.label = number(bare) if value is None else value
        elif role == "weight":
            found.importance = number(bare) if value is None else value
            if found.importance < 0.0:
                raise RefusedError(bare)
        elif role == "base" and bare and bare.lower() not in missing:
            found.base = number(bare) if value is None else value
        elif role == "number":
            if not bare or bare.lower() in missing:
                found.features.append((murmur(b"missing", seed), 1.0, f"{name}=missing"))
            else:
                x = number(bare) if value is None else value
                if abs(x) > 1e17:
                    raise RefusedError(bare)
                found.features.append((seed, x, name))
    found.features += texts
    return found


def folded(features: Iterable[Feature], bits: int) -> dict[int, np.float32]:
    """By index, values added up in order, as the model takes them."""
    found: dict[int, np.float32] = {}
    for k, value, _ in features:
        index = k & ((1 << bits) - 1)
        found[index] = np.float32(found.get(index, np.float32(0.0)) + np.float32(value))
    return found


@dataclass
class Read:
    """All that a stream gives, as plain things."""

    labels: list[float]
    sample_weight: list[float]
    offsets: list[float]
    tags: list[str]
    rows: list[dict[int, np.float32]]
    bits: bytes
    problems: list[tuple[int, str]]
    skipped: int
    names: dict[int, str]
    remarks: set[str]


def written(text: bytes, name: str = "table") -> Path:
    path = Path(_FOLDER.name) / name
    path.write_bytes(text)
    return path


def read(
    reader: Reader, text: bytes, *, size: int = 1 << 21, threads: int = 1, names: Names | None = None
) -> Read:
    """Read a text, lines that are no good left out."""
    stream = Stream([written(text)], reader, names=names, threads=threads, skip=True, block_size=size)
    with np.errstate(over="ignore"):  # products of keys wrap, which plain Python would mention
        chunks = list(stream)
    return Read(
        [x for chunk in chunks for x in chunk.examples.labels.tolist()],
        [x for chunk in chunks for x in chunk.examples.sample_weight.tolist()],
        [x for chunk in chunks for x in _bases(chunk)],
        [tag for chunk in chunks for tag in _tags(chunk)],
        [found for chunk in chunks for found in _rows(chunk)],
        b"".join(
            np.concatenate([getattr(chunk.examples, part) for chunk in chunks]).tobytes() if chunks else b""
            for part in ("indices", "values", "labels", "sample_weight")
        ),
        [(problem.line, problem.what) for problem in stream.problems],
        stream.skipped,
        read_names(names),
        stream.remarks,
    )


def _bases(chunk: ParsedBlock) -> list[float]:
    offsets = chunk.examples.offsets
    return [0.0] * len(chunk.examples) if offsets is None else list(offsets.tolist())


def _tags(chunk: ParsedBlock) -> list[str]:
    spans = [] if chunk.tags is None else chunk.tags.tolist()
    text = chunk.block.text if chunk.text is None else chunk.text
    return [text[start:stop].tobytes().decode() for start, stop in spans]


def _rows(chunk: ParsedBlock) -> list[dict[int, np.float32]]:
    indptr, indices, values = chunk.examples.indptr, chunk.examples.indices, chunk.examples.values
    return [
        dict(zip(indices[start:stop].tolist(), values[start:stop], strict=True))
        for start, stop in itertools.pairwise(indptr.tolist())
    ]


def read_names(names: Names | None) -> dict[int, str]:
    if names is None:
        return {}
    arrays = names.arrays()
    ends = np.cumsum(arrays["names_length"]).tolist()
    text = arrays["names_text"].tobytes()
    return {
        index: text[start:stop].decode()
        for index, start, stop in zip(arrays["names_index"].tolist(), [0, *ends], ends, strict=False)
    }


def agree(found: Read, expected: Sequence[Row], bits: int) -> None:
    """The reader and its twin say the same of every row."""
    np.testing.assert_array_equal(found.labels, [row.label for row in expected])
    weights = [0.0 if math.isnan(row.label) else row.importance for row in expected]
    assert found.sample_weight == weights
    assert found.offsets == [row.base for row in expected]
    assert found.tags == [row.tag for row in expected]
    assert found.rows == [folded(row.features, bits) for row in expected]
    if found.names:
        first: dict[int, str] = {}
        for row in expected:
            for k, _, name in row.features:
                first.setdefault(k & ((1 << bits) - 1), name)
        assert found.names == first


def columns(**roles: str) -> Columns:
    return Columns(tuple(Column(name, role) for name, role in roles.items()))
