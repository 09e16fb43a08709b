"""What people say is as a dictionary of dictionaries would have it."""

import random
import tracemalloc

import pytest

from steelyard.active.label_store import LABEL, WITHDRAWN, Label, in_force, settled
from steelyard.labelling.answer_book import AnswerBook


def test_it_says_what_the_entries_in_force_say() -> None:
    rng = random.Random(0)
    entries: list[Label] = []
    book = AnswerBook([], "spam", 30)
    for time in range(2000):
        purpose = rng.choice([LABEL, LABEL, LABEL, WITHDRAWN])
        label = None if purpose == WITHDRAWN else rng.choice(["ham", "spam", None])
        entry = Label(rng.randrange(30), label, rng.choice(["ada", "bob", "file"]), float(time), purpose)
        entries.append(entry)
        book.take(entry)
        known = {
            item: {who: each.label for who, each in own.items()} for item, own in in_force(entries).items()
        }
        assert dict(book.labels) == known
    assert len(book.labels) == len(known)
    assert [book.counts[label] for label in ("ham", "spam", None)] == [
        sum(settled(own) == label for own in known.values()) for label in ("ham", "spam", None)
    ]
    assert dict(AnswerBook(entries, "spam", 30).labels) == known


def test_items_come_in_the_order_of_their_first_labels() -> None:
    entries = [Label(item, "ham", "ada", 0.0) for item in (5, 2, 9)]
    book = AnswerBook(
        [*entries, Label(2, None, "ada", 0.0, WITHDRAWN), Label(5, "spam", "ada", 0.0)], None, 10
    )
    book.take(Label(2, "ham", "ada", 0.0))
    assert [*book.labels] == [5, 9, 2]
    assert [*book.said_by("ada")] == [2, 5, 9]
    for item in (0, 10, -1):
        assert item not in book.labels
        with pytest.raises(KeyError):
            book.labels[item]


def test_many_answers_take_few_bytes_each() -> None:
    tracemalloc.start()
    try:
        book = AnswerBook((Label(item, "ham", "ada", 0.0) for item in range(10_000)), None, 10_000)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(book.labels) == 10_000
    assert taken < 25 * 10_000
