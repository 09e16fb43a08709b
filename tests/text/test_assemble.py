"""Folding, merging and crossing against plain dictionaries."""

from dataclasses import replace
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.features import Folding, HashedRows, Interactions, Names, interactions
from steelyard.native.declare import PLAIN
from steelyard.text.hashing import CROSS_PRIME

few = settings(deadline=None, max_examples=30 if PLAIN else 100)
Rows = list[list[tuple[int, float, int]]]

feature = st.tuples(
    st.one_of(st.integers(0, 40), st.integers(0, 2**32 - 1)),
    st.integers(-8, 8).map(float),
    st.integers(-1, 2),
)
rows = st.lists(st.lists(feature, max_size=12), max_size=6)


def hashed(given_rows: Rows) -> HashedRows:
    flat = [entry for row in given_rows for entry in row]
    room = HashedRows.empty(len(given_rows), len(flat), "float64")
    room.ends[:] = np.cumsum([len(row) for row in given_rows], dtype=np.int64)
    if flat:
        room.keys[:], room.values[:], room.fields[:] = map(np.array, zip(*flat, strict=True))
    return room


def slow(row: list[tuple[int, float, int]], crosses: Interactions, mask: int) -> dict[int, float]:
    """Index → value, in the order of first appearance."""
    entries = [(key, value) for key, value, _ in row]
    for cross in crosses.crosses:
        groups = []
        for field in dict.fromkeys(cross):
            members = [(key, value) for key, value, of in row if of == field]
            groups.append(list(combinations_with_replacement(members, cross.count(field))))
        for chosen in product(*groups):
            parts = [part for group in chosen for part in group]
            key, value = parts[0]
            for other, factor in parts[1:]:
                key = (key * CROSS_PRIME ^ other) & 0xFFFFFFFF
                value *= factor
            entries.append((key, value))
    merged: dict[int, float] = {}
    for key, value in entries:
        merged[key & mask] = merged.get(key & mask, 0.0) + value
    return merged


def fold(folding: Folding, given_rows: Rows) -> list[dict[int, float]]:
    with np.errstate(over="ignore"):
        folded = folding.fold(hashed(given_rows))
    found = []
    for start, end in zip(folded.indptr, folded.indptr[1:], strict=False):
        row = dict(zip(folded.indices[start:end].tolist(), folded.values[start:end].tolist(), strict=True))
        assert len(row) == end - start, "no index twice"
        found.append(row)
    return found


@few
@given(
    st.lists(st.sets(st.integers(0, 60)).map(sorted), max_size=4),
    st.one_of(st.just(0), st.integers(0, 2**32 - 1)),
    st.sampled_from([4, 12]),
)
def test_rows_that_grow(chunk: list[list[int]], seed: int, bits: int) -> None:
    """From one namespace in order, as in files of numbers; what is not known is a candidate for a name."""
    given_rows = [[((number + seed) & 0xFFFFFFFF, 1.0, -1) for number in row] for row in chunk]
    names = Names(1 << bits)
    folding = Folding(bits, Interactions(), names)
    expected = [slow(row, Interactions(), (1 << bits) - 1) for row in given_rows]
    assert fold(folding, given_rows) == expected
    with np.errstate(over="ignore"):
        found = folding.fold(hashed(given_rows)).candidates
        assert found.keys.tolist() == [key for row in given_rows for key, *_ in row]
        assert found.places[:, 0].tolist() == list(range(len(found.keys)))
        names.admit(found)
        known = {int(key) for table in names.known for key in table}
        again = folding.fold(hashed(given_rows)).candidates.keys.tolist()
    assert again == [key for key in found.keys.tolist() if (key or 1 << 31) not in known]


@few
@given(st.lists(rows, max_size=3), st.sampled_from([1, 4, 20, 30]))
def test_folding_merges(chunks: list[Rows], bits: int) -> None:
    """Chunk after chunk, with the same scratch."""
    folding = Folding(bits, Interactions(), None)
    for chunk in chunks:
        expected = [slow(row, Interactions(), (1 << bits) - 1) for row in chunk]
        assert fold(folding, chunk) == expected
        assert [list(row) for row in fold(folding, chunk)] == [list(row) for row in expected]


@few
@given(st.lists(rows, max_size=3), st.sampled_from([1, 4, 20]), st.booleans())
def test_folding_in_place(chunks: list[Rows], bits: int, told: bool) -> None:
    """Of arrays that nobody needs any more; rows may be told to have no index twice."""
    folding = Folding(bits, Interactions(), None)
    for chunk in chunks:
        expected = [slow(row, Interactions(), (1 << bits) - 1) for row in chunk]
        lengths = zip(chunk, expected, strict=True)
        distinct = np.array([len(row) == len(found) for row, found in lengths], np.bool_)
        given_rows = replace(hashed(chunk), lent=False, distinct=distinct if told else distinct[:0])
        with np.errstate(over="ignore"):
            folded = folding.fold(given_rows)
        assert np.shares_memory(folded.values, given_rows.values) or not len(folded.values)
        parts = zip(folded.indptr[:-1], folded.indptr[1:], strict=True)
        pairs = [slice(start, end) for start, end in parts]
        found_rows = [
            list(zip(folded.indices[part].tolist(), folded.values[part].tolist(), strict=True))
            for part in pairs
        ]
        assert found_rows == [list(row.items()) for row in expected]


@few
@given(rows, st.lists(st.sampled_from(["a*b", "a*a", "b*c*c", "c*b*a", "a*a*a"]), min_size=1, max_size=3))
def test_crossing(chunk: Rows, given_crosses: list[str]) -> None:
    crosses = interactions(["a*b", "b*c", *given_crosses])
    assert crosses.fields == ("a", "b", "c")
    expected = [slow(row, crosses, (1 << 18) - 1) for row in chunk]
    assert fold(Folding(18, crosses, None), chunk) == expected


@few
@given(st.lists(rows, min_size=1, max_size=4), st.sampled_from([2, 6, 24]))
def test_names_and_collisions(chunks: list[Rows], bits: int) -> None:
    names = Names(1 << bits)
    folding = Folding(bits, Interactions(), names)
    keys: dict[int, set[int]] = {}
    first: dict[int, int] = {}
    admitted: dict[int, int] = {}
    for chunk in chunks:
        with np.errstate(over="ignore"):
            candidates = folding.fold(hashed(chunk)).candidates
        chosen = names.admit(candidates)
        admitted |= dict(
            zip(candidates.indices[chosen].tolist(), candidates.keys[chosen].tolist(), strict=True)
        )
        for row in chunk:
            for key, _, _ in row:
                keys.setdefault(key & ((1 << bits) - 1), set()).add(key or 1 << 31)
                first.setdefault(key & ((1 << bits) - 1), key)
    assert admitted == first
    collisions = names.collisions()
    assert collisions.features == len(keys)
    assert collisions.shared == sum(len(at) > 1 for at in keys.values())
    assert collisions.names == sum(len(at) for at in keys.values())


def test_names_survive_in_arrays() -> None:
    names = Names(8)
    folding = Folding(3, Interactions(), names)
    chunk: Rows = [[(1, 1.0, -1), (9, 1.0, -1), (17, 1.0, -1), (2, 1.0, -1)]]
    candidates = folding.fold(hashed(chunk)).candidates
    chosen = names.admit(candidates)
    names.name(candidates.indices[chosen], np.frombuffer(b"onetwo", np.uint8), np.array([3, 3], np.int32))
    again = Names.from_arrays(8, names.arrays())
    assert again.by_index() == names.by_index() == {1: "one", 2: "two"}
    assert again.collisions() == names.collisions()
    assert not len(again.admit(folding.fold(hashed(chunk)).candidates))
    assert len(again) == 2


def test_crossed_candidates_know_their_parts() -> None:
    names = Names(1 << 20)
    folding = Folding(20, interactions(["a*b"]), names)
    chunk: Any = [[(1, 1.0, 0), (2, 1.0, 1)]]
    assert folding.fold(hashed(chunk)).candidates.places.tolist() == [[0, -1], [1, -1], [0, 1]]
