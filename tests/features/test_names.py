"""Names by index: the first at each is kept, and collisions are counted."""

import numpy as np
import pytest

from steelyard.features import Candidates, Collisions, Names


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
