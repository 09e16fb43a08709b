"""The grammar of JSON: what Python's json takes, no more and no less."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.native.declare import PLAIN
from steelyard.text import json_text

few = settings(deadline=None, max_examples=30 if PLAIN else 100)
pieces = st.sampled_from(
    [
        *'{}[]",:\\ \t\r',
        '"a"',
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\uD800",
        "\\n",
        "\\x",
        "\\u12",
        "0",
        "-",
        "1",
        "01",
        ".5",
        "1.",
        "e",
        "E+7",
        "e-",
        "true",
        "false",
        "null",
        "nul",
        "NaN",
        "Infinity",
        "-Infinity",
        "-In",
        "é",
        "\x1f",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def value_end(text: str, deepest: int = 100) -> int:
    data = np.frombuffer(text.encode() + b"\n", np.uint8)
    stop, _ = json_text.value_end(data, json_text.after_blanks(data, 0), np.empty(deepest, np.uint8))
    return -1 if stop < 0 else int(json_text.after_blanks(data, stop))


@few
@given(st.lists(pieces, max_size=10).map("".join) | values.map(json.dumps))
@example('{"a":1,}')
@example('{"a"}')
@example('{"a":1,"b"}')
@example('{"a":1 "b":2}')
@example("[1,]")
@example("[1}")
@example('["a",{"b":[]},{}]')
@example('{"a":{"b":1},"c":[1,2]}')
@example('"\\u00')
@example('"\\')
@example('"\x1f"')
@example('{"a":1,"b":2}')
@example("-")
@example("1.e5")
@example("1e")
def test_a_value_is_one_where_python_says_so(text: str) -> None:
    try:
        json.loads(text)
        good = True
    except ValueError:
        good = False
    assert (value_end(text) == len(text.encode())) == good


@few
@given(
    st.text(st.sampled_from('a"\\/\b\f\n\r\té😀\ud83d\ude00\ud800\x00߿ࠀ\uffff'), max_size=12), st.booleans()
)
@example("a" * 150 + '"é' + "b" * 70, True)
def test_strings_are_decoded_as_python_does(text: str, ascii_only: bool) -> None:
    written = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "replace")
    expected = json.loads(written).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    data = np.frombuffer(written + b"\n", np.uint8)
    stop, escaped = json_text.string_end(data, 0)
    assert stop == len(written)
    assert escaped == (b"\\" in written)
    room = np.zeros(len(written), np.uint8)
    start, end, free = json_text.decode(data, 1, stop - 1, room, 0)
    assert room[start:end].tobytes() == expected
    assert (room[end], free) == (0, end + 1)


@pytest.mark.parametrize("deep", ["[" * 5 + "]" * 5, '{"a":' * 5 + "1" + "}" * 5])
def test_depth_has_a_limit(deep: str) -> None:
    assert value_end(deep, 5) == len(deep)
    assert value_end(deep, 4) == -1


@few
@given(st.text(st.sampled_from('"ab\\\n'), max_size=90), st.sampled_from(["", "x" * 61, "y" * 130]))
@example('"ab"', "x" * 61)
@example('"a"b"ab"', "")
def test_a_key_is_found_wherever_it_stands(text: str, before: str) -> None:
    data = np.frombuffer((before + text).encode(), np.uint8)
    for end in (len(data), max(len(data) - 1, 0)):
        found = json_text.contains(data, end, np.frombuffer(b'"ab"', np.uint8))
        assert found == ('"ab"' in (before + text)[:end])
