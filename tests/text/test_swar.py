"""Many bytes in one look, in all its forms, against one byte after the other and Python's own numbers."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.native.declare import PLAIN, kernel, part
from steelyard.native.memory import address_of
from steelyard.text import swar
from tests.support.parts import callable_part

EXPECTED: dict[str, tuple[int, Callable[[int], bool]]] = {
    "no_digits": (32, lambda c: not 48 <= c <= 57),
    "blanks": (64, lambda c: c in b" \t\r\n"),
    "beyond_ascii": (64, lambda c: c > 127),
    "letters": (64, lambda c: c > 127 or chr(c).isalnum()),
    "newlines": (64, lambda c: c == 10),
    "specials": (64, lambda c: c < 32 or c in b'"\\'),
    "bars": (64, lambda c: c == 124),
    "name_ends": (32, lambda c: c in b" \t\r\n:|"),
}


def compiled(form: Any) -> Any:
    """In a function of its own, so that it is compiled in every process."""

    @callable_part
    @part
    def look(text, index):  # type: ignore[no-untyped-def]
        return form(address_of(text), index)

    return look


def test_every_look_is_tested() -> None:
    assert list(EXPECTED) == list(swar.FORMS)


@pytest.mark.parametrize("name", EXPECTED)
def test_looks(name: str) -> None:
    width, is_one = EXPECTED[name]
    vector, checked, plain = swar.FORMS[name]
    forms = [checked, plain] if PLAIN else [compiled(vector), callable_part(checked)]

    @settings(deadline=None, max_examples=20 if PLAIN else 100)
    @given(st.binary(min_size=width, max_size=width) | st.text("0 |9:\n\t\r", min_size=width, max_size=width))
    def test(given_bytes: bytes | str) -> None:
        data = given_bytes if isinstance(given_bytes, bytes) else given_bytes.encode()
        text = np.frombuffer(b"??" + data + b"?", np.uint8)
        expected = sum(is_one(c) << k for k, c in enumerate(data))
        for look in forms:
            assert int(look(text, 2)) == expected

    test()


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_population() -> None:
    @callable_part
    @part
    def population(word):  # type: ignore[no-untyped-def]
        return swar._compiled_population(word)

    for word in (0, 1, 0x8000000000000001, 2**64 - 1):
        assert population(np.uint64(word)) == swar._plain_population(word) == word.bit_count()  # type: ignore[no-untyped-call]


@settings(deadline=None)
@given(
    st.text("a \n\t\r\x01\x00!é", max_size=300).map(str.encode) | st.binary(max_size=200), st.integers(0, 9)
)
def test_stops(data: bytes, beyond: int) -> None:
    """Only those before the end, however many there are to a word."""
    text = np.frombuffer(data + b" \xff" * beyond, np.uint8)
    room = np.empty(len(data) + swar.SPARE, np.int32)
    with np.errstate(over="ignore"):
        count, ascii_only = swar.find_blanks(text, len(data), len(data), room)
        expected = np.flatnonzero(np.isin(text[: len(data)], list(b" \t\r\n")))
        assert room[:count].tolist() == expected.tolist()
        assert ascii_only == data.isascii()
        for last in (-1, 0, len(data) // 2, len(data)):
            found, _ = swar.find_blanks(text, len(data), last, room)
            assert found == np.count_nonzero(expected <= last)


@kernel
def leading(text, i, end):  # type: ignore[no-untyped-def]
    return swar.leading_digits(swar.address(text), i, end)


@settings(deadline=None)
@given(st.text("0123456789999:. eé", max_size=20), st.integers(0, 20))
def test_leading_digits(text: str, start: int) -> None:
    data = text.encode()
    start = min(start, len(data))
    found = re.match(rb"\d{0,8}", data[start:])
    assert found is not None
    with np.errstate(over="ignore"):
        value, count = leading(np.frombuffer(data + b"\n", np.uint8), start, len(data))
    assert (value, count) == (int(found[0] or b"0"), len(found[0]))


def test_a_word_with_its_bounds_checked_is_the_same_word() -> None:
    """The one of the lane with bounds checked against eight bytes as Python reads them."""
    data = b"0.12345678\xff9"
    text = np.frombuffer(data, np.uint8)
    checked_word = callable_part(swar._checked_word)
    for start in range(len(data) - 7):
        expected = int.from_bytes(data[start : start + 8], "little")
        assert int(checked_word(text, start)) == expected
        assert int(swar._plain_word(text, start)) == expected  # type: ignore[no-untyped-call]


def test_copies_of_what_is_kept() -> None:
    """All forms, at places that are not aligned."""
    text, kept = np.arange(100, 140, dtype=np.uint8), np.array([255] * 16 + [0] * 16, np.uint8)

    @callable_part
    @part
    def compiled_copy(text, index, kept, start, out, at):  # type: ignore[no-untyped-def]
        swar._compiled_copy_kept(address_of(text), index, address_of(kept), start, address_of(out), at)

    plain = swar._plain_copy_kept
    for copy in [plain] if PLAIN else [compiled_copy, callable_part(plain)]:
        for size in range(17):
            out = np.full(20, 7, np.uint8)
            copy(text, 3, kept, 16 - size, out, 2)
            assert out.tolist() == [7, 7, *range(103, 103 + size), *[0] * (16 - size), 7, 7]
