"""What people say is as a dictionary of dictionaries would have it."""

import random
import tracemalloc

import pytest

from steelyard.active.identifiers import Item
from steelyard.active.label_store import LABEL, RESTORED, WITHDRAWN, Label, in_force, majority_label
from steelyard.labelling.answer_book import AnswerBook


def test_it_says_what_the_entries_in_force_say() -> None:
    rng = random.Random(0)
    entries: list[Label] = []
    book = AnswerBook([], "spam", 30)
    for time in range(2000):
        purpose = rng.choice([LABEL, LABEL, LABEL, WITHDRAWN])
        label = None if purpose == WITHDRAWN else rng.choice(["ham", "spam", None])
        entry = Label(
            Item(rng.randrange(30)), label, rng.choice(["ada", "bob", "file"]), float(time), purpose
        )
        entries.append(entry)
        book.add(entry)
        known = {
            item: {who: each.label for who, each in own.items()} for item, own in in_force(entries).items()
        }
        assert dict(book.labels) == known
    assert len(book.labels) == len(known)
    assert [book.counts[label] for label in ("ham", "spam", None)] == [
        sum(majority_label(own) == label for own in known.values()) for label in ("ham", "spam", None)
    ]
    assert dict(AnswerBook(entries, "spam", 30).labels) == known


def test_items_come_in_the_order_of_their_first_labels() -> None:
    entries = [Label(Item(row), "ham", "ada", 0.0) for row in (5, 2, 9)]
    book = AnswerBook(
        [*entries, Label(Item(2), None, "ada", 0.0, WITHDRAWN), Label(Item(5), "spam", "ada", 0.0)], None, 10
    )
    book.add(Label(Item(2), "ham", "ada", 0.0))
    assert [*book.labels] == [5, 9, 2]
    assert [*book.items_of("ada")] == [2, 5, 9]
    for item in map(Item, (0, 10, -1)):
        assert item not in book.labels
        with pytest.raises(KeyError):
            book.labels[item]


def test_many_answers_take_few_bytes_each() -> None:
    tracemalloc.start()
    try:
        book = AnswerBook((Label(Item(row), "ham", "ada", 0.0) for row in range(10_000)), None, 10_000)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(book.labels) == 10_000
    assert taken < 25 * 10_000


def test_undo_goes_back_step_by_step() -> None:
    """Whatever people did, each undo brings back what was there before, also after a restart."""
    rng = random.Random(1)
    entries: list[Label] = []
    book = AnswerBook([], None, 6)
    past: dict[str, list[dict[int, str | None]]] = {"ada": [{}], "bob": [{}]}

    def take(entry: Label) -> None:
        entries.append(entry)
        book.add(entry)

    def said(book: AnswerBook, person: str) -> dict[int, str | None]:
        return {item: own[person] for item, own in book.labels.items() if person in own}

    for _ in range(3000):
        person = rng.choice([*past])
        last = book.last_by(person)
        assert (last is None) == (len(past[person]) == 1)
        if last is not None and rng.random() < 0.5:
            take(Label(last.item, last.before, person, 0.0, RESTORED if last.is_change else WITHDRAWN))
            past[person].pop()
        else:
            item, label = Item(rng.randrange(6)), rng.choice(["ham", "spam", None])
            take(Label(item, label, person, 0.0))
            past[person].append(past[person][-1] | {item: label})
        assert said(book, person) == past[person][-1]
    again = AnswerBook(entries, None, 6)
    assert {*again.items_of("ada")} == {*past["ada"][-1]}
    assert again.last_by("ada") == book.last_by("ada")
