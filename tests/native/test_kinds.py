"""The types that annotations stand for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from steelyard.native import kinds
from steelyard.native.kinds import Bits, Counts, Indices, Number, Pairs, StoredWeights, Values, Weights


class Two(NamedTuple):
    indices: Indices
    number: Number


class Three(NamedTuple):
    two: Two
    counts: Counts


def one(a: Indices) -> None: ...
def tied(a: Weights, b: Pairs) -> None: ...
def pairs(a: Pairs) -> None: ...
def crossed(a: Indices, b: Values) -> None: ...
def bits(a: Bits) -> None: ...
def stored(a: StoredWeights, b: Weights) -> None: ...
def struct(a: Three, b: Number) -> None: ...
def plain(a, b):  # type: ignore[no-untyped-def]
    ...


NESTED = f"{__name__}:Three( {__name__}:Two( {{}}[] f8 ) i8[] ) f8"


@pytest.mark.parametrize(
    ("function", "keys"),
    [
        (one, ["i4[]", "i8[]"]),
        (tied, ["f4[] c8[]", "f8[] c16[]"]),
        (pairs, ["c8[]", "c16[]"]),
        (crossed, ["i4[] f4[]", "i4[] f8[]", "i8[] f4[]", "i8[] f8[]"]),
        (bits, ["u4[]", "u8[]"]),
        (stored, [f"{a} {b}" for a in ("f4[]", "f8[]", "f8[:]") for b in ("f4[]", "f8[]")]),
        (struct, [NESTED.format("i4"), NESTED.format("i8")]),
        (plain, [""]),
    ],
)
def test_keys(function: Callable[..., Any], keys: list[str]) -> None:
    assert sorted(kinds.keys_of(function)) == sorted(keys)


def test_what_declares_kinds() -> None:
    def untold(a: Any, b: float) -> tuple[float, float]:
        return a, b

    assert kinds.declares(one)
    assert kinds.declares(struct)
    assert not kinds.declares(plain)
    assert not kinds.declares(untold)


def test_names_of_structs() -> None:
    assert kinds.named(tuple) == ""
    assert kinds.named(Two) == f"{__name__}:Two"
