"""CSV, TSV, JSON lines and `__label__` text through the stream, beside `csv`, `json` and plain Python."""

import csv
import functools
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzzing.text_pieces import damage
from steelyard.features import Names
from steelyard.io.fasttext_reader import FastTextReader
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule, two_classes
from steelyard.io.stream import Reader
from steelyard.text.tokens import TextOptions
from tests.support import tables
from tests.text import test_delimited, test_jsonl

_BATCH, _BITS = 300, 20
_RULES: list[LabelRule | None] = [None, two_classes("-1", "1"), two_classes("*", "spam", 0.0, 1.0)]
_TEXTS = [TextOptions(), TextOptions(2, (2, 2), "binary"), TextOptions(3, (1, 2), "sublinear")]
_RETURN = "\ue123"  # stands for a return within a line, which `csv` would take for its end
_WAYS = list(itertools.product(_RULES, _TEXTS))
Expected = Callable[[bytes, LabelRule | None, TextOptions], tables.Row | None]


# The reference hashes the same words again and again.
tables.murmur = functools.lru_cache(1 << 16)(tables.murmur)
tables.tokens = functools.lru_cache(1 << 14)(tables.tokens)


class RefusedError(ValueError):
    """By the reference."""


class TableText:
    """Lines, each of which is one record. The first byte of a batch says how they are read."""

    def __init__(
        self,
        lines: list[bytes],
        reader: Callable[[LabelRule | None, TextOptions, Names], Reader],
        expected: Expected,
        header: bytes = b"\n",  # so that a mark of the encoding is one at the very beginning only
    ) -> None:
        self._lines, self._reader, self._expected, self._header = lines, reader, expected, header

    def draw(self, chance: Random) -> bytes:
        lines = [damage(chance.choice(self._lines), self._lines, chance) for _ in range(_BATCH)]
        return bytes([chance.randrange(256)]) + b"\n".join(line.replace(b"\n", b" ") for line in lines)

    def check(self, data: bytes) -> int:
        rule, options = _WAYS[data[0] % len(_WAYS)]
        lines: list[bytes] = []
        expected: list[tables.Row] = []
        wrong: list[int] = []
        for line in data[1:].split(b"\n"):
            try:
                row = self._expected(line, rule, options)
            except NotImplementedError:  # it would go on behind the end of its line
                continue
            except (tables.RefusedError, RefusedError):
                wrong.append(len(lines))
            else:
                expected += [row] if row is not None else []
            lines.append(line)
        text = self._header + b"".join(line + b"\n" for line in lines)
        names = Names(1 << _BITS)
        found = tables.read(self._reader(rule, options, names), text, names=names)
        refused = {line for line, _ in found.problems}
        first = 1 + self._header.count(b"\n")
        assert refused == {first + line for line in wrong[: len(refused)]}, (refused, wrong)
        assert found.skipped == len(wrong), (found.skipped, wrong)
        tables.agree(found, expected, _BITS)
        if data[0] < 192:
            return len(lines)
        again = Names(1 << _BITS)
        cut = tables.read(self._reader(rule, options, again), text, size=997, threads=2, names=again)
        assert (cut.bits, cut.problems, cut.names) == (found.bits, found.problems, found.names)
        return len(lines)


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise RefusedError("not UTF-8") from None


def _without_blanks(line: str, separator: str) -> str:
    """Between a closing quote and the separator blanks may stand, which `csv` does not know."""
    quoted = re.compile(f'("(?:[^"]|"")*")[ \t{_RETURN}]*?(?={separator}|$)')
    fields, at = [], 0
    while at <= len(line):
        found = quoted.match(line, at)
        stop = found.end() if found else line.find(separator, at)
        stop = len(line) if stop < 0 else stop
        fields.append(found[1] if found else line[at:stop])
        at = stop + 1
    return separator.join(fields)


def _delimited(separator: str) -> Callable[[Path], TableText]:
    texts = ["x", 'a "b" é', "12", "", f"1{separator}2", "Some words 7 7", "NA", " red "]
    rows = [
        ["1", "2.5", "0.5", "a b", 'É "a" 7 7', "é", "1", ""],
        ["-1", "0", "?", "", "a b a b", "7", "-0.25", "x"],
        ["spam", "1", "", *texts[:5]],
        ["", "1e-3", "", *texts[3:]],
        *([y, "1", "", "", text, "c", "1e3", ""] for y in ("1", "-1", "2.5", "NA") for text in texts),
    ]  # fmt: skip
    lines = [
        separator.join(test_delimited.cell_text(cell, separator, always) for cell in row).encode()
        for row in rows
        for always in (False, True)
    ]

    def expected(line: bytes, rule: LabelRule | None, options: TextOptions) -> tables.Row | None:
        line = line.removesuffix(b"\r")
        if separator.encode() not in line and not line.strip(b" \r"):
            return None
        bare = line.decode("utf-8", "surrogateescape").replace("\r", _RETURN)
        try:
            (cells,) = csv.reader([_without_blanks(bare, separator)], delimiter=separator, strict=True)
        except csv.Error as error:
            open_quote = len(list(csv.reader([bare + "\n", "x"], delimiter=separator))) == 1
            if "unexpected end" in str(error) or open_quote or bare.count('"') % 2:
                raise NotImplementedError from None
            raise RefusedError(str(error)) from None
        _decoded(line)
        if len(cells) != len(test_delimited.NAMES):
            raise RefusedError("fields")
        whole = [cell.replace(_RETURN, "\r") for cell in cells]
        named = dict(zip(test_delimited.NAMES, whole, strict=True))
        return tables.row(named, test_delimited.COLUMNS, options, rule)

    def reader(rule: LabelRule | None, options: TextOptions, names: Names) -> Reader:
        return test_delimited.reader(rule, options, separator, names)

    header = separator.join(test_delimited.NAMES).encode() + b"\n"
    return lambda _: TableText(lines, reader, expected, header)


class _Float(float):
    """A number with its text, which is what a category, a tag or a label goes by."""

    def __new__(cls, text: str) -> "_Float":
        found = super().__new__(cls, text)
        found.text = text
        return found

    text: str

    def __str__(self) -> str:
        return self.text


class _Int(int):
    """As `_Float`."""

    def __new__(cls, text: str) -> "_Int":
        found = super().__new__(cls, text[:4000])
        found.text = text
        return found

    text: str

    def __str__(self) -> str:
        return self.text


def _constant(text: str) -> float | None:
    return None if text == "NaN" else _Float(text)


def _object(line: bytes) -> dict[str, Any]:
    """Of a key that comes twice in a row nobody knows which one is meant; within a cell, values are added."""

    try:
        found = json.loads(
            _decoded(line),
            object_pairs_hook=_Pairs,
            parse_float=_Float,
            parse_int=_Int,
            parse_constant=_constant,
        )
    except RecursionError:
        raise NotImplementedError from None
    except ValueError as error:
        raise RefusedError(str(error)) from None
    if not isinstance(found, _Pairs):
        raise RefusedError("no object")
    known = [name for name, _ in found.items() if test_jsonl.valid(name) in test_jsonl.COLUMNS.names]
    if len(set(known)) < len(known):
        raise RefusedError("twice")
    return {test_jsonl.valid(name): cell for name, cell in found.items()}


class _Pairs(dict[str, Any]):
    """An object whose keys may come twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def items(self) -> Any:
        return self._pairs


def _jsonl(_: Path) -> TableText:
    objects: list[dict[str, Any]] = [
        test_jsonl.EVERYTHING,
        {"y": 1, "w": 0.5, "b": 1, "id": "a", "t": "Some words 7", "c": "red", "x": 2.5e-3, "é": -1},
        {"y": "spam", "t": 'a "b"\n', "c": 12, "x": {"a": 1, "b": 2.5}, "i": [[{}]]},
        {"y": -1, "t": "é 😀 \ud800", "c": ["a", "b", 1], "x": [1, None, True]},
        {"y": None, "c": {"a": True}, "x": "NA", "no column": None},
        {"y": "1", "w": "2", "x": " 7 ", "t": ["a", "b"]},
    ]
    lines = [
        json.dumps(each, separators=how).encode() for each in objects for how in ((",", ":"), (", ", ": "))
    ]

    def expected(line: bytes, rule: LabelRule | None, options: TextOptions) -> tables.Row | None:
        if not line.strip(b" \t\r"):
            return None
        try:
            return test_jsonl.twin(_object(line), options, rule)
        except TypeError:
            raise RefusedError("only objects of numbers") from None

    return TableText(lines, test_jsonl.reader, expected)


_DOCUMENT = tables.columns(label="label", text="text")


def _fasttext(_: Path) -> TableText:
    texts = [b"Some words 7", b"", b"a b a b", "é 😀".encode(), b"x__label__b c"]
    labels = [b"__label__spam ", b"__label__1 ", b"__label__-1 ", b"", b"__label__spam __label__1 "]
    lines = [label + text for label in labels for text in texts] + [text + b" __label__1" for text in texts]

    def expected(line: bytes, rule: LabelRule | None, options: TextOptions) -> tables.Row | None:
        line = line.replace(b"\t", b" ")
        if not line.strip():
            return None
        words = line.split()
        labels = [word.removeprefix(b"__label__") for word in words if word.startswith(b"__label__")]
        text = b" ".join(word for word in words if not word.startswith(b"__label__"))
        cells = {"label": _decoded((labels or [b""])[0]), "text": _decoded(text)}
        return tables.row(cells, _DOCUMENT, options, rule)

    def reader(rule: LabelRule | None, options: TextOptions, names: Names) -> Reader:
        return FastTextReader(
            InputSpec("fasttext", _BITS, columns=_DOCUMENT, text=options, label_rule=rule), names
        )

    return TableText(lines, reader, expected)


TARGETS = {"csv": _delimited(","), "tsv": _delimited("\t"), "jsonl": _jsonl, "fasttext": _fasttext}
