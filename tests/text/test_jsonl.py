"""JSON lines beside Python's json, and beside the plain twin of a row."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.features import Names
from steelyard.io.input_spec import InputSpec
from steelyard.io.jsonl_reader import UNKNOWN, JsonReader
from steelyard.io.labels import LabelRule, classes, two_classes
from steelyard.native.declare import PLAIN
from steelyard.text.tokens import TextOptions
from tests.support import tables

few = settings(deadline=None, max_examples=30 if PLAIN else 100)
BITS = 20
COLUMNS = tables.columns(
    y="label", w="weight", b="base", id="tag", t="text", c="category", x="number", i="ignore", é="number"
)

words = st.text(st.sampled_from('aB1 é"\\/\n\t\x00😀\ud800'), max_size=10)
numbers = st.integers(-5, 10**20) | st.floats(width=32, allow_infinity=False, allow_nan=False)
scalars = words | numbers | st.booleans() | st.none()
inner = st.dictionaries(words, numbers | st.booleans() | st.none(), max_size=4) | st.lists(
    words | numbers | st.booleans() | st.none(), max_size=4
)
cells: dict[str, st.SearchStrategy[Any]] = {
    "y": st.sampled_from([1, -1, 2.5, "1", "spam", True, None, "", [1]]),
    "w": st.sampled_from([1, 0.5, "2", -1, True, None, math.nan]),
    "b": st.sampled_from([1, 0.5, "2", False, None]),
    "id": scalars,
    "t": scalars | inner,
    "c": scalars | inner,
    "x": numbers | inner | st.sampled_from(["", "NA", "7", "abc", True, None, math.nan, math.inf, 1e30]),
    "i": scalars | inner | st.lists(inner),
    "é": numbers,
    "no column": scalars,
}
objects = st.fixed_dictionaries({}, optional=cells)


def valid(text: str) -> str:
    """Half a surrogate pair is replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def inner_features(found: dict[str, Any]) -> list[tables.Feature]:
    """Of nested values, in the order of the object."""
    features: list[tables.Feature] = []
    for name, cell in found.items():
        if not isinstance(cell, dict | list) or COLUMNS.role(name) not in ("text", "category", "number"):
            continue
        seed = tables.murmur(name.encode())
        if isinstance(cell, dict):
            pairs = [(valid(part), tables.key(valid(part), seed), value) for part, value in cell.items()]
        else:
            pairs = [
                (valid(value), tables.key(valid(value), seed), True)
                if isinstance(value, str)
                else (str(place), (seed + place) & tables.MASK, value)
                for place, value in enumerate(cell)
            ]
        for part, key, value in pairs:
            if value is not None and abs(value) > 1e17:
                raise tables.RefusedError(part)
            if value is not None:
                features.append((key, float(value), f"{name}^{part}"))
    return features


def plain(cell: Any) -> Any:
    """A cell as the twin takes it."""
    if isinstance(cell, float) and math.isnan(cell):
        return None
    return valid(cell) if isinstance(cell, str) else cell


def twin(found: dict[str, Any], options: TextOptions, rule: LabelRule | None) -> tables.Row:
    known = {name: cell for name, cell in found.items() if name in COLUMNS.names}
    nested = inner_features(known)
    row = tables.row({name: plain(cell) for name, cell in known.items()}, COLUMNS, options, rule)
    row.features = nested + row.features
    return row


def reader(rule: LabelRule | None, options: TextOptions, names: Names | None = None) -> JsonReader:
    return JsonReader(InputSpec("jsonl", BITS, columns=COLUMNS, text=options, label_rule=rule), names)


EVERYTHING = {
    "no column": [[1]],
    "é": 0.5,
    "t": 'some \\ "text"\ud83d\ude00 \ud800 7',
    "x": [1, True, False, None, "a\n"],
    "c": {"a\t": 1, "b": True, "c": False, "d": None},
    "b": False,
    "w": True,
    "y": "1",
    "id": "a\u00e9",
    "i": {"deep": [{}]},
}


@few
@given(
    st.lists(objects, max_size=5),
    st.booleans(),
    st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", "\r: ")]),
    st.sampled_from(
        [
            None,
            two_classes("-1", "1"),
            two_classes("*", "spam", 0.0, 1.0),
            classes(["spam", "-1", "1", "2.5"]),
        ]
    ),
    st.sampled_from([TextOptions(), TextOptions(2, (2, 2), "binary")]),
    st.integers(1, 60),
)
@example([EVERYTHING], True, (",", ":"), two_classes("*", "spam"), TextOptions(2, (2, 2), "binary"), 20)
@example([EVERYTHING], False, (",", ":"), None, TextOptions(0, (2, 3)), 20)
def test_objects_become_what_their_twin_says(
    found: list[dict[str, Any]],
    ascii_only: bool,
    separators: tuple[str, str],
    rule: LabelRule | None,
    options: TextOptions,
    size: int,
) -> None:
    lines = [json.dumps(one, ensure_ascii=ascii_only, separators=separators) for one in found]
    text = "".join(line + "\n" for line in lines)
    if not ascii_only:
        text = text.encode("utf-8", "replace").decode()  # half a pair cannot be written
        found = [json.loads(line) for line in text.split("\n")[:-1]]
    expected, wrong = [], []
    for line, one in enumerate(found):
        try:
            expected.append(twin(one, options, rule))
        except tables.RefusedError:
            wrong.append(line + 1)
    names = Names(1 << BITS)
    read = tables.read(reader(rule, options, names), text.encode(), names=names)
    tables.agree(read, expected, BITS)
    assert [line for line, _ in read.problems] == wrong
    if not wrong:  # an object that is refused is not read to its end
        assert read.remarks == ({UNKNOWN} if any("no column" in one for one in found) else set())
    cut_names = Names(1 << BITS)
    cut = tables.read(reader(rule, options, cut_names), text.encode(), size=size, names=cut_names)
    assert (cut.bits, cut.problems, cut.names) == (read.bits, read.problems, read.names)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("[1]", "'[1]': not a JSON object"),
        ("7", "not a JSON object"),
        ('{"y": 1', "not a JSON object"),
        ('{"y": 1} {}', "'} {}': not a JSON object"),
        ('{"y": 1,}', "not a JSON object"),
        ('{"y" 1}', "not a JSON object"),
        ("{y: 1}", "not a JSON object"),
        ('{"y": 01}', "not a JSON object"),
        ('{"y": }', "not a JSON object"),
        ('{"y": 1, "y": 2}', "column y: 'y': the key comes twice in one object"),
        ('{"y": {"a": 1}}', "column y: '{\"a\": 1}': only objects of numbers"),
        ('{"x": {"a": "b"}}', "column x: '\"b\"': only objects of numbers"),
        ('{"c": [["b"]]}', "column c: '[\"b\"]': only objects of numbers"),
        ('{"x": [1e999]}', "column x: '1e999': NaN and infinite values"),
        ('{"x": {"a": 1e200}}', "column x: '1e200': the value is so large"),
        ('{"x": "abc"}', "column x: 'abc' is not a number; is it a category or text?"),
        ('{"x": 1e200}', "column x: '1e200': the value is so large"),
        ('{"x": "inf"}', "column x: 'inf': NaN and infinite values"),
        ('{"w": null}', "column w: the weight 'null' is not a number"),
        ('{"w": -2}', "column w: the weight '-2' is negative"),
        ('{"b": "z"}', "column b: the offset 'z' is not a number"),
        ('{"y": "spam"}', "column y: the label 'spam' is not a number"),
        ('{"c": "\xff"}', "not UTF-8 text"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line: str, what: str) -> None:
    good = '{"y": 1, "c": "a"}\n'
    text = (good + "\n" + good + line + "\n" + good).encode("latin-1")
    read = tables.read(reader(None, TextOptions()), text)
    assert read.labels == [1.0, 1.0, 1.0]
    (problem,) = read.problems
    assert problem[0] == 4
    assert what in problem[1]


def test_a_label_that_is_neither() -> None:
    read = tables.read(
        reader(two_classes("ham", "spam"), TextOptions()), b'{"y": "spam"}\n{"y": "eggs"}\n{"y": "NA"}'
    )
    [(line, what)] = read.problems
    assert line == 2
    assert what.startswith("column y: the label 'eggs' is neither ham nor spam; labels=")
    np.testing.assert_array_equal(read.labels, [1.0, np.nan])


def test_keys_in_any_order_and_columns_that_hash_alike() -> None:
    """Enough columns that some share a place in the table of names."""
    names = [f"n{place}" for place in range(40)]
    columns = tables.columns(**dict.fromkeys(names, "number"))
    objects = [{name: place for place, name in enumerate(order)} for order in (names, names[::-1], names[7:])]
    text = "".join(json.dumps(one) + "\n" for one in objects)
    read = tables.read(JsonReader(InputSpec("jsonl", BITS, columns=columns)), text.encode())
    tables.agree(read, [tables.row(one, columns) for one in objects], BITS)


@few
@given(st.lists(st.binary(max_size=30) | objects.map(lambda one: json.dumps(one).encode()), max_size=5))
@example([b'{"c": "\\'])
@example([b'{"x": {"a": [1'])
def test_no_bytes_do_harm(parts: list[bytes]) -> None:
    """Every line is a row, a problem, or blank."""
    text = b"\n".join([b"", *parts])  # the first bytes may not be those of a compressed file
    read = tables.read(reader(None, TextOptions(2, (1, 3), "sublinear")), text)
    given_lines = text.split(b"\n")
    assert len(read.labels) + read.skipped == sum(bool(line.strip(b" \t\r")) for line in given_lines)


def test_positions_of_several_digits_have_names() -> None:
    names = Names(1 << BITS)
    tables.read(reader(None, TextOptions(), names), json.dumps({"x": [1] * 101}).encode(), names=names)
    assert {f"x^{place}" for place in range(101)} == set(tables.read_names(names).values())


def test_all_problems_are_counted_some_are_described() -> None:
    read = tables.read(reader(None, TextOptions()), b"bad\n" * 100)
    assert read.skipped == 100
    assert [line for line, _ in read.problems] == list(range(1, 21))
