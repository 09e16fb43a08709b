"""What is known about rows takes few bytes, and is what plain dictionaries would say."""

import math
import pickle
import tracemalloc

import numpy as np
import pytest

from steelyard.active.events import ANSWER, SKIP, TEACH, Event, Events
from steelyard.active.stored_rows import (
    ANSWERED,
    OPEN,
    SKIPPED,
    TAUGHT,
    PoolRows,
    ReadRows,
    SparseRows,
    sparse_row,
    stored,
)
from steelyard.examples import Examples, examples
from tests.active.streams import FEATURES, stream


def pool(dense: bool) -> Examples:
    if not dense:
        return stream(40)[0]
    rng = np.random.default_rng(2)
    return examples((rng.normal(size=(40, FEATURES)) * (rng.random((40, FEATURES)) < 0.5)).astype(np.float32))


def test_rows_read_are_as_dictionaries_would_have_them() -> None:
    rng = np.random.default_rng(0)
    read, places, states, chances = ReadRows(), {}, {}, {}
    for place, number in enumerate((rng.permutation(400)[:300] - 50).tolist()):
        assert number not in read
        state = TAUGHT if number % 7 == 0 else OPEN
        read.add(number, float(place), state)
        places[number], states[number], chances[number] = place, state, float(place)
        if state == OPEN and number % 3:
            closed = int(rng.choice([ANSWERED, SKIPPED]))
            read.set_state(number, closed)
            states[number] = closed
    assert len(read) == 300
    for number in range(-60, 360):
        assert (number in read) == (number in places)
        assert read.state(number) == states.get(number)
    for number, place in places.items():
        assert (read.place(number), read.probability(number)) == (place, chances[number])
    assert read.numbers().tolist() == [*places]
    some = np.array([*places][::-3])
    assert read.places(some).tolist() == [places[number] for number in some.tolist()]
    for state in (OPEN, ANSWERED, SKIPPED, TAUGHT):
        own = [number for number in places if states[number] == state]
        assert (read.in_state(state), read.count(state)) == (own, len(own))
    taught = sorted(number for number in places if states[number] == TAUGHT)
    assert read.taught_between(-60, 360) == taught
    assert read.taught_between(14, 28) == [number for number in taught if 14 <= number < 28]
    with pytest.raises(KeyError):
        read.place(1000)
    kept = read.copy()
    read.reopen()
    assert (read.count(OPEN), read.count(TAUGHT)) == (300 - len(taught), len(taught))
    assert set(read.in_state(OPEN)) == {*places} - {*taught}
    read.add(1000, 1.0)
    assert 1000 not in kept
    assert kept.count(ANSWERED) > 0


def test_events_are_a_list() -> None:
    plain = [Event(ANSWER, 5, 1.0), Event(SKIP, 7), Event(TEACH, -3, -1.0), Event(ANSWER, 9, -1.0)]
    events = Events(plain)
    assert (len(events), list(events), events.last) == (4, plain, plain[-1])
    assert events.is_about(-3)
    assert not events.is_about(3)
    np.testing.assert_array_equal(events.labels(), [1.0, math.nan, -1.0, -1.0])
    np.testing.assert_array_equal(events.labels(last=2), [-1.0, -1.0])
    events.pop()
    assert list(pickle.loads(pickle.dumps(events))) == plain[:-1]
    assert not Events()


@pytest.mark.parametrize("dense", [False, True])
def test_rows_of_a_pool_are_those_that_were_stored(dense: bool) -> None:
    chunk, order, read = pool(dense), np.random.default_rng(1).permutation(40), ReadRows()
    copied, referred = SparseRows(FEATURES), PoolRows(chunk, order, read)
    for number in (3, 30, 7):
        read.add(number, 1.0)
        for each in (copied, referred):
            each.add(*sparse_row(chunk, order[number]))
    places, some = np.array([2, 0, 1, 0]), np.arange(4.0)
    one, other = (each.take(places, some, some + 1.0) for each in (copied, referred))
    for name in ("indptr", "indices", "values", "labels", "sample_weight", "dense"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.values.dtype == other.values.dtype == np.float64
    assert one.indices.dtype == other.indices.dtype == np.int32


def test_dense_rows_are_stored_without_their_zeros() -> None:
    found = stored(examples(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]])), [2, 1, 0])
    assert (found.indptr.tolist(), found.indices.tolist()) == ([0, 2, 2, 3], [0, 2, 1])
    assert found.values.tolist() == [1.0, 3.0, 2.0]


def test_many_answers_take_few_bytes_each() -> None:
    tracemalloc.start()
    try:
        read, events = ReadRows(), Events()
        for number in range(10_000):
            read.add(number, 0.5)
            read.set_state(number, ANSWERED)
            events.append(Event(ANSWER, number, 1.0))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 50 * 10_000
