"""The file: what it refuses, and that it loses nothing."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.active._journal_file import transaction
from steelyard.active.events import ANSWER, CHANGE, SKIP, TEACH, WITHDRAW, Event, Events
from steelyard.active.journal import Journal
from steelyard.active.learner import ActiveLearner
from steelyard.active.stored_rows import ReadRows
from steelyard.active.strategies._base import BudgetPlan
from tests.active.streams import FEATURES, SETTINGS, answered, learner, stream

# Answers as they go, and says so only afterwards; goes on where the journal is.
ASKER = """
import sys
import numpy as np
from steelyard.active.learner import ActiveLearner
from steelyard.active.journal import Journal
from steelyard.active.strategies._base import BudgetPlan
from tests.active.streams import FEATURES, SETTINGS, stream
chunk, labels = stream(int(sys.argv[2]))
asking = ActiveLearner(SETTINGS, FEATURES, BudgetPlan(rate=0.3), None, Journal(sys.argv[1]))
for number in asking.open:
    asking.answer([number], [labels[number]])
    print(number, flush=True)
for row in range(asking.seen, len(chunk)):
    for question in asking.consider(chunk.take(np.array([row]))):
        asking.answer([question.id], [labels[question.id]])
        print(question.id, flush=True)
"""


def killed(path: Path, after: float, count: int) -> list[int]:
    """Run the asker and kill it; returns what it said was answered."""
    command = [sys.executable, "-c", ASKER, str(path), str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()  # it has begun
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        text = first + process.stdout.read()
    return [int(line) for line in text.split("\n")[:-1]]  # the last may be cut off


def check_survival(path: Path, times: int, seed: int, count: int = 4000) -> None:
    rng = random.Random(seed)
    said: list[int] = []
    for _ in range(times):
        said += killed(path, rng.uniform(0.0, 0.4), count)
    chunk, labels = stream(count)
    with Journal(path) as journal:
        asking = ActiveLearner(SETTINGS, FEATURES, BudgetPlan(rate=0.3), None, journal)
        label = asking.history().label
        np.testing.assert_array_equal(label[said], labels[said])
        assert len(said) == len(set(said))
        for number in asking.open:
            asking.answer([number], [labels[number]])
        seen = asking.seen
        whole = answered(learner(rate=0.3), chunk.take(np.arange(seen)), labels)
        np.testing.assert_array_equal(asking.history().probability, whole.history().probability)
        np.testing.assert_array_equal(asking.model.pairs, whole.model.pairs)
        np.testing.assert_array_equal(asking.labelled.models[0].pairs, whole.labelled.models[0].pairs)


def test_killing_loses_no_answer(tmp_path: Path) -> None:
    check_survival(tmp_path / "killed.journal", times=2, seed=0, count=1000)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_killing_again_and_again(seed: int, tmp_path: Path) -> None:
    check_survival(tmp_path / "killed.journal", times=15, seed=seed, count=20_000)


def test_another_process_cannot_ask_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with Journal(path) as journal:
        with pytest.raises(ValueError, match=r"another process is using it$"):
            Journal(path)
        journal.file.write_address("http://127.0.0.1:1/")
        with pytest.raises(ValueError, match=r"another process is using it, at http://127\.0\.0\.1:1/$"):
            Journal(path)
    Journal(path).close()


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with Journal(path) as journal:
        journal.file.db.execute(
            "CREATE TEMP TRIGGER full BEFORE INSERT ON events BEGIN SELECT no_room(); END"
        )
        with pytest.raises(OSError, match="could not be written") as caught:
            journal.add([Event(ANSWER, 0, 1.0)])
        assert caught.value.filename == str(path)
        journal.file.db.execute("DROP TRIGGER full")
        assert not list(journal.events())
        journal.add([Event(ANSWER, 0, 1.0)])
        # a failed commit may have ended the transaction already: there is nothing to roll back then
        with pytest.raises(OSError, match="could not be written"), transaction(journal.file.db, to_disk=True):
            journal.file.db.execute("COMMIT")
        assert list(journal.events()) == [Event(ANSWER, 0, 1.0)]


def test_files_that_are_no_journals(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("no journal at all, but long enough to be looked at " * 20)
    with pytest.raises(ValueError, match=r"a\.txt: is not a journal"):
        Journal(text)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE cats (name TEXT)")
    db.close()
    with pytest.raises(ValueError, match=r"other\.db: is not a journal"):
        Journal(other)
    with pytest.raises(ValueError, match="unable to open"):
        Journal(tmp_path / "nowhere" / "a.journal")


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with Journal(path) as journal:
        learner(journal)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE about SET about = ?", (json.dumps({"format": 99}),))
    db.close()
    with pytest.raises(ValueError, match=r"written by a newer steelyard \(format 99"):
        learner(Journal(path))


def test_a_decision_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    asking = learner(Journal(path), rate=0.5)
    chunk, _ = stream(20)
    asking.consider(chunk)
    asking.seen = 5  # as if the file were another's: the first of these numbers is taken
    asking._read = ReadRows()
    with pytest.raises(OSError, match=r"could not be written .*UNIQUE"):
        asking.consider(chunk.take(np.arange(10)))
    assert len(asking.history().asked) == 20
    asking.journal.close()


def test_others_may_read_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    chunk, labels = stream(100)
    with Journal(path) as journal:
        asking = answered(learner(journal, rate=0.3), chunk, labels)
        with Journal(path, read_only=True) as reading:
            np.testing.assert_array_equal(reading.history().label, asking.history().label)
            again = learner(reading, rate=0.3)
            np.testing.assert_array_equal(again.model.pairs, asking.model.pairs)
    with pytest.raises(ValueError, match="unable to open"):
        Journal(tmp_path / "none.journal", read_only=True)


def test_answers_change_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    chunk, labels = stream(300)
    with Journal(path) as journal:
        asking = answered(learner(journal, rate=0.3), chunk, labels)
        numbers = np.flatnonzero(asking.history().asked).tolist()
        first, second, third, fourth = numbers[2:6]
        asking.change(first, -labels[first])
        asking.change(second, None)
        asking.withdraw(third)
        with pytest.raises(ValueError, match="neither answered nor skipped"):
            asking.withdraw(third)
        with pytest.raises(ValueError, match=r"has the label 7\.0"):
            asking.change(fourth, 7.0)
        assert (asking.open, asking.skipped, asking.answered) == ([third], 1, len(numbers) - 2)
        history = asking.history()
        assert history.label[first] == -labels[first]
        assert np.isnan(history.label[[second, third]]).all()
        asking.answer([third], [labels[third]])
        assert asking.undo() == third
        model, asking_model = asking.model.pairs, asking.labelled.models[0].pairs
    assert json.loads(read_about(path))["format"] == 3
    with Journal(path) as journal:
        again = learner(journal, rate=0.3)
        np.testing.assert_array_equal(again.model.pairs, model)
        np.testing.assert_array_equal(again.labelled.models[0].pairs, asking_model)
        again.journal.attempts.begin(1, {})
    assert json.loads(read_about(path))["format"] == 3


def read_about(path: Path) -> str:
    with sqlite3.connect(path) as db:
        (found,) = db.execute("SELECT about FROM about").fetchone()
    db.close()
    return str(found)


def test_budgets_are_raised_and_lowered(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    chunk, labels = stream(200)
    with Journal(path) as journal:
        answered(learner(journal, budget=20, expected=200), chunk.take(np.arange(100)), labels)
    with Journal(path) as journal:
        more = learner(journal, budget=40, expected=400)
        assert more.plan.budget == 40
        more.set_budget(60)
        assert more.strategy.plan.budget == 60
        more.set_budget(5)
        assert more.spent
        assert not more.consider(chunk.take(np.arange(100, 200)))
        for wrong in (0, 10**308):
            with pytest.raises(ValueError, match=r"from 1 to 1,000,000,000; got"):
                more.set_budget(wrong)
        assert more.plan.budget == 5
    with Journal(path) as journal:
        assert learner(journal, budget=40, expected=400).plan == replace(more.plan, budget=40)
    with pytest.raises(ValueError, match="there is no budget to change"):
        learner(rate=0.1).set_budget(50)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE questions SET indices = x'ffffff7f'", "features that do not exist"),
        ("UPDATE questions SET indices = x'00000000'", "features that do not exist"),
        ("UPDATE questions SET indices = NULL", "TypeError"),
        ("UPDATE turns SET number = 99999", "KeyError"),
        ("UPDATE events SET number = 99999", "KeyError"),
    ],
)
def test_damaged_entries_are_refused(tmp_path: Path, change: str, what: str) -> None:
    chunk, labels = stream(60)
    with Journal(tmp_path / "a.journal") as journal:
        answered(learner(journal), chunk, labels)
    with sqlite3.connect(tmp_path / "a.journal") as database:
        database.execute(change)
    database.close()
    refused = pytest.raises(ValueError, match=rf"a\.journal: is damaged .*{what}")
    with Journal(tmp_path / "a.journal") as journal, refused:
        learner(journal)


def test_damage_that_shows_only_in_use(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    chunk, labels = stream(60)
    with Journal(path) as journal:
        asking = learner(journal)
        answered(asking, chunk, labels)
        journal.file.db.executescript(
            "PRAGMA writable_schema = ON;"
            "UPDATE sqlite_master SET rootpage = 9999 WHERE name IN ('decisions', 'events');"
            "PRAGMA schema_version = 99; PRAGMA writable_schema = RESET;"
        )
        with pytest.raises(OSError, match=r"is damaged .*malformed") as read:
            asking.history()
        with pytest.raises(OSError, match=r"could not be written .*malformed") as written:
            asking.undo()
        assert read.value.filename == written.value.filename == str(path)


def test_old_journals_are_read_as_they_are(tmp_path: Path) -> None:
    """Before there were attempts, there was no place for them."""
    path = tmp_path / "old.journal"
    with Journal(path) as journal:
        learner(journal, rate=0.3)
    with sqlite3.connect(path) as db:
        for table in ("attempts", "attempt_entries", "taught", "turns"):
            db.execute(f"DROP TABLE {table}")
    db.close()
    before = path.read_bytes()
    with Journal(path, read_only=True) as journal:
        assert journal.attempts.count() == 0
        assert journal.turns() == {}
    assert path.read_bytes() == before


def test_a_label_that_was_taught_after_a_skip_is_revised_with_it() -> None:
    events = Events([Event(SKIP, 3), Event(ANSWER, 4, 1.0), Event(TEACH, 3, -1.0)])
    events.revise(Event(CHANGE, 3, 1.0))
    assert list(events) == [Event(ANSWER, 3, 1.0), Event(ANSWER, 4, 1.0)]


def test_a_revision_of_nothing_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with Journal(path) as journal:
        answered(learner(journal, rate=0.3), *stream(20))
        journal.add([Event(WITHDRAW, 7_000)])
    with Journal(path) as journal, pytest.raises(ValueError, match=r"is damaged .*no entry of question 7000"):
        learner(journal, rate=0.3)


def test_a_turn_without_its_row_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with Journal(path) as journal:
        answered(learner(journal, rate=0.3), *stream(20))
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM questions WHERE number = (SELECT max(number) FROM questions)")
    db.close()
    with Journal(path) as journal, pytest.raises(ValueError, match="is damaged"):
        learner(journal, rate=0.3)


def test_rows_that_are_not_in_the_pool_are_damage(tmp_path: Path) -> None:
    path, (chunk, labels) = tmp_path / "a.journal", stream(20)
    with Journal(path) as journal:
        asked = answered(learner(journal, rate=0.3), chunk, labels).asked
    with Journal(path) as journal:
        again = ActiveLearner(
            SETTINGS, FEATURES, BudgetPlan(rate=0.3), journal=journal, pool=(chunk, np.arange(20))
        )
        assert again.asked == asked
        few = chunk.take(np.arange(2)), np.arange(2)
        with pytest.raises(ValueError, match=r"is damaged .*is not in the pool"):
            ActiveLearner(SETTINGS, FEATURES, BudgetPlan(rate=0.3), journal=journal, pool=few)
