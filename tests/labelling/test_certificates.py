"""Certificates of a session: draws that people share, failures, recall, and which one counts."""

from pathlib import Path

import pytest

from steelyard.active.identifiers import Item
from steelyard.active.label_store import CERTIFY
from steelyard.io.errors import InputError
from steelyard.labelling import leases
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import CLASSES, answer, begin, text_of, truth


def test_a_certificate(session: LabellingSession, tmp_path: Path) -> None:
    answer(session, 40)
    assert session.worker.wait()
    session.certify("error", 0.3)
    with pytest.raises(ValueError, match="an attempt is under way"):
        session.certify("error", 0.3)
    drawn: list[Item] = []
    while session.attempts.current is not None:
        found = session.next("tab", "ann")
        assert found is not None
        assert found[1] == CERTIFY
        if not drawn:
            other = session.next("other", "bob")
            assert other is not None
            assert other[1] == CERTIFY  # people share the draws
            assert other != found
            session.leave("other")
        session.label("tab", "ann", found[0], truth(text_of(session, found[0])))
        drawn.append(found[0])
        if len(drawn) == 3:  # an answer is changed, and changed back: all is counted anew
            session.label("tab", "ann", drawn[1], None)
            assert getattr(session.attempts.current.test, "bad", 0) >= 1
            session.label("tab", "ann", drawn[1], truth(text_of(session, drawn[1])))
        if len(drawn) == 4:  # another process would find it as it is
            restored = LabellingSession(session.project)
            assert restored.attempts.current is not None
            assert len(restored.attempts.current.answers) == 4
    assert session.attempts.last is not None
    assert session.attempts.last["passed"], session.attempts.last["says"]
    attempt = session.feed.classifier.attempt_
    assert attempt is not None
    assert [*attempt.drawn()] == drawn
    assert session.worker.wait()
    states = [attempt.learned]  # the model is the one that was certified
    taught = session.feed.classifier.n_taught_
    assert session.undo("tab", "ann") == drawn[-1]  # the last answer was wrong: the attempt goes on
    assert not attempt.over
    assert session.next("tab", "ann") == (drawn[-1], CERTIFY)
    session.label("tab", "ann", drawn[-1], truth(text_of(session, drawn[-1])))
    assert session.attempts.last["passed"]
    session.give_up()  # there is nothing to give up
    answer(session, 1)
    assert session.worker.wait()
    states.append(attempt.learned)  # with the first label after it
    assert states == [False, True]
    assert session.feed.classifier.n_taught_ > taught
    session.label("tab", "ann", drawn[0], None)  # too late for the certificate, not for the model
    assert session.worker.wait()
    assert session.feed._known[drawn[0]] < 0
    session.certify("precision", 0.99)
    session.give_up()
    assert not session.attempts.last["passed"]
    assert LabellingSession(session.project).attempts.last == session.attempts.last


def test_answers_of_an_attempt_that_failed_are_learned(session: LabellingSession) -> None:
    answer(session, 20)
    session.certify("error", 0.01)
    assert session.worker.wait()
    drawn: list[Item] = []
    while session.attempts.current is not None:
        found = session.next("tab", "ann")
        assert found is not None
        label = None if len(drawn) == 1 else truth(text_of(session, found[0]))
        session.label("tab", "ann", found[0], label)
        drawn.append(found[0])
        if len(drawn) == 8:
            session.give_up()
    assert session.worker.wait()
    told = session.feed._known
    known = [item for item in drawn if item != drawn[1]]
    assert [CLASSES[told[item]] for item in known] == [truth(text_of(session, item)) for item in known]
    assert told[drawn[1]] < 0
    again = LabellingSession(session.project).feed
    assert again._known.tolist() == told.tolist()


def test_a_certificate_of_recall(tmp_path: Path) -> None:
    with begin(tmp_path, measure="recall", target=0.8, strategy="relevance") as project:
        assert not project.settings.tfidf  # there are numbers among the columns
        session = LabellingSession(project)
        session.start()
        answer(session, 30)
        assert session.worker.wait()
        with pytest.raises(InputError, match="a certificate is of error, precision, recall"):
            session.certify("recall", 1.0)
        session.certify("recall", 0.8)
        with pytest.raises(ValueError, match="an attempt is under way"):
            session.certify("recall", 0.8)
        before = answer(session, 3)  # what was asked ahead comes first
        assert session.worker.wait()
        assert session.attempts.current is not None
        assert len(session.attempts.current.reads) == 33
        drawn = answer(session, 100)
        assert session.attempts.last is not None
        assert session.attempts.last["says"].startswith("certified: recall of 'spam' at least 0.8")
        assert not set(before) & set(drawn)
        assert session.book.dry <= len(drawn)
        session.certify("recall", 0.9)
        session.give_up()
        assert session.worker.wish is None
        session.close()


def test_an_attempt_goes_on_while_somebody_has_one_of_its_draws_open(tmp_path: Path) -> None:
    now = [0.0]
    with begin(tmp_path, 400, budget=60) as project:
        session = LabellingSession(project, clock=lambda: now[0])
        session.start()
        answer(session, 40)
        assert session.worker.wait()
        session.certify("error", 0.2)
        held = session.next("slow", "bob")
        assert held is not None
        done = answer(session, 30)  # beyond the draw that bob looks at
        assert len(done) == 30
        late = session.next("late", "eve")
        assert late is not None
        attempt = session.attempts.current
        assert attempt is not None
        assert (len(attempt.answers), session.attempts.count_waiting(session.labels)) == (0, 30)
        assert session.worker.wait()
        known = len(session.feed.classifier.learner_.labelled)
        now[0] += leases.DRAW_LEASE + 1.0
        assert session.next("tab", "ann") == held  # bob is gone
        session.label("tab", "ann", held[0], truth(text_of(session, held[0])))
        assert attempt.passed
        assert session.worker.wait()
        assert len(attempt.answers) < 31
        session.label("late", "eve", late[0], truth(text_of(session, late[0])))  # a draw that she had open
        assert session.worker.wait()
        assert len(session.feed.classifier.learner_.labelled) == known  # still the certified model
        session.close()
        session = LabellingSession(project, clock=lambda: now[0])
        session.start()
        assert session.worker.wait()
        assert len(session.feed.classifier.learner_.labelled) == known
        answer(session, 1)
        assert session.worker.wait()
        assert session.worker.wait()
        assert len(session.feed.classifier.learner_.labelled) >= known + 32
        session.close()


def test_the_strongest_certificate_that_holds_is_shown(tmp_path: Path) -> None:
    with begin(tmp_path, 400, budget=60) as project:
        session = LabellingSession(project)
        session.start()
        answer(session, 40)
        assert session.worker.wait()
        for target in (0.1, 0.3):
            session.certify("error", target)
            while session.attempts.current is not None:
                answer(session, 1)
        assert session.worker.wait()
        for each in (session, LabellingSession(project)):
            last = each.attempts.last
            assert last is not None
            assert (last["passed"], last["target"]) == (True, 0.1)
        session.close()
