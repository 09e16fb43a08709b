"""Documents go to people and labels to the learner; nothing is lost, and nobody is asked in vain."""

import itertools
import time
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from steelyard.active.identifiers import Item
from steelyard.active.label_store import WITHDRAWN, Label, LabelStore
from steelyard.io.errors import InputError
from steelyard.labelling import leases
from steelyard.labelling import session as session_module
from steelyard.labelling.project import Project
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import CLASSES, answer, begin, text_of, truth


def test_a_session(session: LabellingSession) -> None:
    done = answer(session, 30)
    assert len(set(done)) == 30
    assert session.wait()
    assert session.feed.answered == 30
    assert session.book.counts["ham"] + session.book.counts["spam"] == 30
    estimates = session.feed.estimates
    assert 20 <= estimates[0]["answers"] < 30
    assert not estimates[-1]["met"]
    assert estimates == session.project.store.estimates()


def test_the_next_process_goes_on(tmp_path: Path) -> None:
    with begin(tmp_path) as project:
        first = LabellingSession(project)
        first.start()
        done = answer(first, 12)
        assert first.wait()  # it has asked ahead
        first.close()
        waiting = first.next("tab", "ann")
        assert waiting is not None
        # Killed here: this label is on disk, and the learner was not told.
        first.label("tab", "ann", waiting[0], "ham")
    with Project(tmp_path / "messages.csv.journal") as project:
        again = LabellingSession(project)
        again.start()
        assert again.wait()
        assert set(again.labels) == {*done, waiting[0]}
        assert again.feed.answered == 13
        again.close()


def test_changes_and_withdrawals_reach_the_learner(session: LabellingSession) -> None:
    done = answer(session, 12)
    assert session.wait()
    before = session.feed.classifier.history_.label.copy()
    session.label("tab", "ann", done[3], None)
    session.label("tab", "ann", done[5], "spam" if truth(text_of(session, done[5])) == "ham" else "ham")
    assert session.wait()
    after = session.feed.classifier.history_.label
    numbers = [int(session.feed._stream_numbers[item]) for item in done]
    assert np.isnan(after[numbers[3]])
    assert after[numbers[5]] == -before[numbers[5]]
    assert session.book.counts[None] == 1
    assert session.undo("tab", "ann") == done[5]  # which was changed last, and is again what it was
    assert session.undo("tab", "ann") == done[3]
    assert session.wait()
    np.testing.assert_array_equal(session.feed.classifier.history_.label, before)
    session.label("tab", "ann", done[3], None)
    session.project.store.add(Label(done[5], None, "ann", 0.0, WITHDRAWN))
    session.book.add(Label(done[5], None, "ann", 0.0, WITHDRAWN))
    session._pending.append(None)  # as after a kill
    assert session.wait()
    assert session.feed.answered == 10
    session.label("tab", "ann", done[5], None)
    assert session.wait()
    assert session.feed.classifier.n_skipped_ == 2
    assert session.book.by_person == {"ann": 12}
    with pytest.raises(InputError, match="nothing to undo"):
        session.undo("tab", "bob")


def test_labels_that_make_no_sense(session: LabellingSession) -> None:
    for item, label, annotator, message in (
        (Item(0), "eggs", "ann", "neither ham nor spam"),
        (Item(1000), "ham", "ann", "no document 1000"),
        (Item(0), "ham", "file", "is not the name of a person"),
        (Item(0), "ham", "", "is not the name of a person"),
    ):
        with pytest.raises(InputError, match=message):
            session.label("tab", annotator, item, label)
    assert not session.labels


def test_two_people_have_different_documents(session: LabellingSession) -> None:
    one, two = session.next("a", "ann"), session.next("b", "bob")
    assert one is not None
    assert two is not None
    assert one[0] != two[0]
    assert session.next("a", "ann") == one  # a page that is loaded again
    session.assignments.leases._held[one[0]] = "a", session._clock() - 2.0 * leases.LEASE
    session.assignments.leases._held[two[0]] = "c", session._clock()
    assert session.next("b", "bob") == one  # whoever had it is gone


def test_a_page_that_is_closed_gives_its_document_back(session: LabellingSession) -> None:
    one = session.next("a", "ann")
    assert session.next("b", "bob") != one
    session.leave("b")
    session.leave("a")
    assert session.next("c", "bob") == one


def test_a_clock_that_goes_back(tmp_path: Path) -> None:
    clock = itertools.count(1e9, -3600.0)
    with begin(tmp_path) as project:
        session = LabellingSession(project, lambda: next(clock))
        session.start()
        done = answer(session, 12)
        assert session.undo("tab", "ann") == done[-1]
        session.close()
        session = LabellingSession(project, lambda: next(clock))
        assert session.undo("tab", "ann") == done[-2]
        assert list(session.book.items_of("ann")) == done[-3::-1]


def test_some_are_labelled_twice(tmp_path: Path) -> None:
    with begin(tmp_path, twice=1.0) as project:
        session = LabellingSession(project)
        session.start()
        done = answer(session, 3)
        session.label("tab", "ann", done[0], "ham")
        found = [session.next("b", "bob") for _ in done]
        assert found[0] is not None
        assert found[0][0] == done[0]
        session.label("b", "bob", done[0], "spam")
        assert session.book.counts["ham"] >= 1  # of one vote each, the first counts
        following = session.next("b", "bob")
        assert following is not None
        assert following[0] in done[1:]
        session.close()
    with Project(project.path) as again:
        assert len(LabellingSession(again).assignments.second_opinions) == 2


def test_labels_from_a_search_are_taught_changed_and_taken_back(session: LabellingSession) -> None:
    answer(session, 12)
    assert session.wait()
    classifier = session.feed.classifier
    item = next(item for item in map(Item, range(50, 100)) if not session.feed.asked[item])
    for label, taught in (("ham", 1), ("spam", 1), (None, 0), ("spam", 1)):
        session.label("tab", "ann", item, label)
        assert session.wait()
        assert classifier.n_taught_ == taught
    assert classifier.learner_.labels[int(session.feed._stream_numbers[item])] == 1.0
    for taught in (0, 1, 1, 0):
        assert session.undo("tab", "ann") == item
        assert session.wait()
        assert classifier.n_taught_ == taught
    assert LabellingSession(session.project).assignments.queue[-1] == item  # it is asked for again
    with pytest.raises(ValueError, match="neither answered nor skipped, nor taught"):
        classifier.withdraw(int(session.feed._stream_numbers[item]))


def test_a_budget_is_raised_and_lowered(tmp_path: Path) -> None:
    with begin(tmp_path, budget=20, strategy="margin") as project:
        session = LabellingSession(project)
        session.start()
        assert len(answer(session, 30)) == 20
        assert session.next("tab", "ann") is None
        session.set_budget(40)
        assert len(answer(session, 5)) == 5
        session.set_budget(25)
        assert len(answer(session, 10)) <= 3  # which it had asked for before
        for wrong in (0, -1, 10**308):
            with pytest.raises(InputError, match="a number of labels from 1 to 1,000,000,000"):
                session.set_budget(wrong)
        session.close()
    with Project(project.path) as again:
        assert again.settings.budget == 25
        assert again.classifier().learner_.plan.budget == 25


def test_labels_of_the_file_are_not_asked_for(tmp_path: Path) -> None:
    from steelyard.labelling import corpus
    from steelyard.labelling.project_settings import ProjectSettings
    from tests.labelling.projects import texts

    table = tmp_path / "half.csv"
    rows = [f"{text},{label if k % 2 else ''}" for k, (text, label) in enumerate(texts(60))]
    table.write_text("\n".join(["message,label", *rows, ""]))
    with Project(tmp_path / "half.journal") as project:
        project.begin(corpus.read(str(table), classes=CLASSES), ProjectSettings(CLASSES, "spam", budget=40))
        session = LabellingSession(project)
        known = set(session.labels)
        session.start()
        asked = answer(session, 10)
        assert session.wait()
        assert known
        assert not known & set(asked)
        assert session.feed.answered == 10
        assert session.feed.classifier.n_taught_ == len(known)
        assert session.book.by_person == {"ann": 10}
        session.close()


def test_nobody_waits_for_ever(session: LabellingSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_PATIENCE", 0.01)
    answer(session, 1)
    session.close()
    session.assignments.queue.clear()
    session.exhausted = False
    assert session.next("tab", "ann") is None


def test_a_strategy_without_estimates(tmp_path: Path) -> None:
    with begin(tmp_path, strategy="margin") as project:
        session = LabellingSession(project)
        session.start()
        answer(session, 21)
        assert session.wait()
        assert "begin another journal with an audit of 0.01" in session.feed.estimates[-1]["refused"]
        session.close()


def test_screening_estimates_recall(tmp_path: Path) -> None:
    with begin(tmp_path, measure="recall", target=0.9, positive="ham") as project:
        session = LabellingSession(project)
        session.start()
        answer(session, 24)
        assert session.wait()
        assert session.feed.estimates[-1]["measure"] == "recall"
        assert session.feed.explain(Item(0))[1] == "ham"
        session.close()


def test_a_pool_grows(tmp_path: Path) -> None:
    from steelyard.labelling import corpus

    more = tmp_path / "more.csv"
    rows = '900,3,a,"free prize cash"\n901,4,b,"lunch at home"\n902,3,a,"free prize cash"\n'
    more.write_text(f"id,hour,sender,message\n{rows}")
    with begin(tmp_path) as project:
        before = LabellingSession(project)
        before.start()
        done = answer(before, 15)
        assert before.wait()
        before.close()
        items = before.feed.items
    with Project(project.path) as grown:
        assert grown.grow(corpus.read(str(more), classes=CLASSES)) == items + 2
        other = tmp_path / "other.csv"
        other.write_text("id,title\n1,some words\n2,another one\n")
        with pytest.raises(InputError, match="the new documents lack"):
            grown.grow(corpus.read(str(other), classes=CLASSES))
        other.write_text("id,hour,sender,message\n1,noon,a,some words\n2,night,b,another one\n")
        with pytest.raises(InputError, match="cannot be learned from: column hour"):
            grown.grow(corpus.read(str(other), classes=CLASSES))
        session = LabellingSession(grown)
        assert session.feed.items == items + 2
        assert set(session.labels) == set(done)
        parts = grown.journal.about.read()["about"]["parts"]  # type: ignore[index]
        assert [rows for rows, _ in parts] == [items, 2]
    with Project(project.path) as again:
        assert LabellingSession(again).feed.answered == 15


def test_journals_without_documents(tmp_path: Path) -> None:
    from steelyard.active.journal import Journal

    with Journal(tmp_path / "plain.journal"):
        pass
    with Project(tmp_path / "plain.journal", read_only=True) as project:
        assert not project.begun
        assert LabelStore(project.journal).project() is None


def test_texts_are_weighted_where_a_pool_is_ranked(tmp_path: Path) -> None:
    from steelyard import model_file
    from steelyard.labelling import corpus
    from steelyard.labelling.project_settings import ProjectSettings
    from tests.labelling.projects import texts

    one, more = tmp_path / "texts.txt", tmp_path / "more.txt"
    one.write_text("\n".join(text for text, _ in texts(80)))
    more.write_text("\n".join(text for text, _ in texts(20, seed=1)))
    with Project(tmp_path / "texts.journal") as project:
        project.begin(
            corpus.read(str(one), classes=CLASSES), ProjectSettings(CLASSES, "spam", "relevance", 40)
        )
        assert project.settings.tfidf
        session = LabellingSession(project)
        with pytest.raises(InputError, match=r"no document has been labelled (ham|spam) yet"):
            project.save_model(tmp_path / "texts.model", session.feed.classifier)
        session.start()
        for _ in range(20):
            found = session.next("tab", "ann")
            assert found is not None
            session.label("tab", "ann", found[0], truth(project.store.document(found[0]).fields["text"]))
        session.certify("error", 0.3)
        assert session.wait()
        session.close()
        project.save_model(tmp_path / "texts.model", session.feed.classifier)
        names = model_file.load(tmp_path / "texts.model").class_names
        assert names is not None
        assert names.tolist() == ["ham", "spam"]
    with Project(tmp_path / "texts.journal") as project:
        items = project.grow(corpus.read(str(more), classes=CLASSES))
        grown = LabellingSession(project)
        assert grown.feed.items == items
        assert set(grown.labels) == set(session.labels)
        assert grown.attempts.current is not None  # about the rows there were


def test_a_document_with_a_label_is_told_to_the_learner_instead_of_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begin(tmp_path) as project:
        session = LabellingSession(project)  # without its thread
        session.step()
        found = session.next("tab", "ann")
        assert found is not None
        session.label("tab", "ann", found[0], "ham")
        session._pending = deque([{}])
        session.see("another")
        monkeypatch.setattr(session.feed, "ask", lambda: found[0])
        session.step()
        assert [*session._pending] == [{found[0]: {"ann": "ham"}}]


def test_a_full_disk_stops_the_learner_only_for_a_while(
    session: LabellingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "_RETRY", 0.01)
    answer(session, 5)
    assert session.wait()
    learner, journal = session.feed.classifier.learner_, session.project.journal
    written = journal.add

    def full(events: object) -> None:
        raise OSError(28, "No space left on device", "a.journal")

    monkeypatch.setattr(journal, "add", full)
    before = learner.answered
    answer(session, 1)
    ends = time.monotonic() + 60.0
    while session.trouble is None and time.monotonic() < ends:
        time.sleep(0.001)
    assert str(session.trouble) == "a.journal: No space left on device"
    monkeypatch.setattr(journal, "add", written)
    assert session.wait()
    assert not session.trouble
    assert learner.answered == before + 1


def test_a_copy_of_the_file_alone_is_whole(session: LabellingSession, tmp_path: Path) -> None:
    """Also while the server runs, or after it was killed: nothing must be left in a file beside it."""
    done = answer(session, 8)
    session.label("tab", "ann", done[0], None)
    assert session.wait()
    copy = tmp_path / "copy.journal"
    copy.write_bytes(Path(session.project.path).read_bytes())
    with Project(copy, read_only=True) as kept:
        assert kept.store.labels() == session.project.store.labels()
        assert kept.journal.turns() == session.project.journal.turns()
        assert [*kept.journal.events()] == [*session.project.journal.events()]
    with Project(copy) as kept:
        assert {*LabellingSession(kept).labels} == {*done}
