"""Who has which document: people who are gone keep nothing from those who are here."""

from contextlib import closing
from pathlib import Path

from steelyard.active.identifiers import Item
from steelyard.labelling.leases import DRAW_LEASE, LEASE, Leases
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import answer, begin


class Clock:
    now = 1e9

    def __call__(self) -> float:
        return self.now


def test_documents_of_people_who_are_gone_are_labelled(tmp_path: Path) -> None:
    """Browsers that crash do not say so, and what they had is a part of the budget."""
    clock = Clock()
    with begin(tmp_path, budget=30) as project, closing(LabellingSession(project, clock)) as session:
        session.start()
        for number in range(8):
            assert session.next(f"gone {number}", "bob") is not None
        clock.now += 61.0
        done = answer(session, 40)
        assert len(done) == len(set(done)) > 20
        assert session.next("tab", "ann") is None
        assert session.worker.wait()
        assert not session.feed.open_count


def test_a_document_of_somebody_silent_goes_to_the_next_one_when_nothing_else_is_left(tmp_path: Path) -> None:
    clock = Clock()
    with begin(tmp_path, budget=3) as project, closing(LabellingSession(project, clock)) as session:
        session.start()
        held = session.next("silent", "bob")
        session.next("here", "cyd")
        assert held is not None
        assert len(answer(session, 5)) == 1
        clock.now += 10.0
        session.see("here")
        assert session.next("tab", "ann") is None
        clock.now += 10.0
        assert session.next("tab", "ann") == held


def test_who_has_what() -> None:
    clock = Clock()
    leases = Leases(clock)
    one, two = Item(1), Item(2)
    for client in "ab":
        leases.see(client)
    leases.give(one, "a")
    assert leases.has("a", one)
    assert not leases.has("b", one)
    assert leases.is_free(one, "a")
    assert not leases.is_free(one, "b", DRAW_LEASE)
    assert not leases.is_silent(one)
    clock.now += 40.0
    leases.see("b")
    assert leases.is_silent(one)
    assert leases.is_free(one, "b", DRAW_LEASE)
    assert not leases.is_free(one, "b")
    assert (leases.count_clients(), leases.count_abandoned([one, two])) == (2, 0)
    clock.now += 40.0
    assert (leases.count_clients(), leases.count_abandoned([one, two])) == (1, 1)
    clock.now += LEASE
    assert leases.is_free(one, "b")
    leases.give(two, "b")
    leases.leave("b")
    assert leases.is_free(two, "a")
    leases.take_back(one)
    assert leases.count_abandoned([one, two]) == 0


def test_clients_who_are_gone_are_forgotten() -> None:
    clock = Clock()
    leases = Leases(clock)
    for number in range(1000):
        clock.now += 1.0
        leases.see(f"client {number}")
    assert len(leases._seen) <= 60
