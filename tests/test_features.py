"""How interactions are read; names by index: the first at each is kept, and collisions are counted."""

import numpy as np
import pytest

from steelyard.features import (
    MOST_FIELDS,
    Candidates,
    Collisions,
    Folding,
    Interactions,
    Names,
    interactions,
)
from steelyard.text import hashing
from tests.support import slow_text


def candidates(*keys: int, bits: int = 4) -> Candidates:
    array = np.array(keys, np.int64)
    return Candidates(array & ((1 << bits) - 1), array, np.arange(len(keys), dtype=np.int32)[:, None])


def named(names: Names, *keys: int) -> list[int]:
    """Admit these; returns the keys that are to be named, after naming them by their keys."""
    found = candidates(*keys)
    chosen = names.admit(found)
    text = [str(key).encode() for key in found.keys[chosen].tolist()]
    names.name(
        found.indices[chosen],
        np.frombuffer(b"".join(text), np.uint8),
        np.array([len(name) for name in text], np.int32),
    )
    return [int(key) for key in found.keys[chosen]]


def test_the_first_is_kept() -> None:
    names = Names(16)
    assert named(names, 1, 17, 2, 1, 33) == [1, 2]
    assert named(names, 49, 18, 3) == [3]
    assert names.by_index() == {1: "1", 2: "2", 3: "3"}
    assert names.collisions() == Collisions(names=7, features=3, shared=2)
    assert names.collisions().share == pytest.approx(6 / 7)
    assert len(names) == 3


def test_nothing() -> None:
    names = Names(16)
    assert named(names) == []
    assert names.collisions().share == 0.0
    assert names.by_index() == {}


def test_no_more_than_asked_for() -> None:
    names = Names(16, most=2)
    assert named(names, 1, 2, 3) == [1, 2]
    assert named(names, 4) == []
    assert names.collisions().features == 4


def test_going_on_from_arrays_is_as_if_never_stopped() -> None:
    whole, part = Names(16), Names(16)
    for names in (whole, part):
        named(names, 1, 17, 33, 49, 0, 16)
    part = Names.from_arrays(16, part.arrays())
    for names in (whole, part):
        named(names, 49, 65, 2, 0, 1 << 31)
    assert {key: value.tolist() for key, value in whole.arrays().items()} == {
        key: value.tolist() for key, value in part.arrays().items()
    }
    assert whole.collisions() == part.collisions()


def test_names_that_are_not_utf8_can_be_shown() -> None:
    names = Names(4)
    names.name(np.array([2]), np.frombuffer(b"\xffa", np.uint8), np.array([2], np.int32))
    assert names.by_index() == {2: "\ufffda"}


@pytest.mark.parametrize("name", ["price", "17", "é", "", "0", "007", str(2**40)])
def test_keys(name: str) -> None:
    assert hashing.name_key(name) == slow_text.key(name.encode(), 0)
    assert hashing.column_key(name) == slow_text.murmur3(name.encode(), 0)


@pytest.mark.parametrize("bits", [0, 31])
def test_sizes_that_a_model_cannot_have(bits: int) -> None:
    with pytest.raises(ValueError, match=f"bits must be from 1 to 30; got {bits}"):
        Folding(bits, Interactions(), None)


def test_fields_are_numbered_as_they_come() -> None:
    found = interactions(["item*user", "user * user", "hour*item*hour"])
    assert found.fields == ("item", "user", "hour")
    assert found.crosses == ((0, 1), (1, 1), (0, 2, 2))
    assert found.array().tolist() == [[0, 1, -1], [1, 1, -1], [0, 2, 2]]


def test_the_same_cross_counts_once() -> None:
    assert interactions(["a*b", "b*a", "a*b"]).crosses == ((0, 1),)


def test_none() -> None:
    assert interactions([]) == Interactions()
    assert Interactions().array().shape == (0, 1)


@pytest.mark.parametrize("text", ["a", "", "a*", "*b", "a**b", " * ", "*".join("abcdefghi")])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=rf"not of the form name\*name, with 2 to {MOST_FIELDS} names"):
        interactions(["x*y", text])


def test_as_many_fields_as_allowed() -> None:
    assert len(interactions(["*".join("abcdefgh")]).crosses[0]) == MOST_FIELDS
