"""One person who gives the same answers gets the same questions, however fast the learner is."""

from contextlib import closing
from pathlib import Path

import pytest

from steelyard.active import strategies
from steelyard.labelling import corpus
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import ProjectSettings
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import CLASSES, texts, truth

COUNT = 32


def asked(folder: Path, name: str, strategy: str, *, prompt: bool, stops: bool = False) -> list[int]:
    """The documents in the order in which they came; the learner works at once, or when nothing is left.

    With `stops` the server is started anew before every question.
    """
    table = folder / "messages.csv"
    rows = [f'"{text}",{label if number % 9 == 0 else ""}' for number, (text, label) in enumerate(texts(150))]
    table.write_text("\n".join(["message,label", *rows, ""]))
    audit = 0.05 if strategy in ("margin", "relevance") else 0.0
    done: list[int] = []
    with Project(folder / name) as project:
        settings = ProjectSettings(CLASSES, "spam", strategy, 80, audit)
        project.begin(corpus.read(str(table), classes=CLASSES), settings)
    while len(done) < COUNT:
        with Project(folder / name) as project, closing(LabellingSession(project)) as session:
            _answer(session, done, len(done) + 1 if stops else COUNT, prompt=prompt)
    return done


def _answer(session: LabellingSession, done: list[int], until: int, *, prompt: bool) -> None:
    """Without the thread of the session."""
    session.assignments.leases.see("tab")
    session.worker.step()
    while len(done) < until:
        while (found := session.assignments.choose("tab", "ann")) is None:
            session.worker.step()
        item = found[0]
        right = truth(str(session.project.store.document(item).fields["message"]))
        wrong = CLASSES[right == "ham"]
        session.label("tab", "ann", item, wrong)
        session.label("tab", "ann", item, None if len(done) % 7 == 3 else right)  # on second thoughts
        if len(done) % 10 == 5:
            session.undo("tab", "ann")
            session.undo("tab", "ann")
            session.label("tab", "ann", item, right)
        done.append(item)
        while prompt and (session.worker._pending or session.worker._wanted()):
            session.worker.step()


@pytest.mark.no_cover
@pytest.mark.parametrize("strategy", strategies.names())
def test_questions_follow_from_the_answers(strategy: str, tmp_path: Path) -> None:
    found = asked(tmp_path, "prompt.journal", strategy, prompt=True)
    assert found == asked(tmp_path, "late.journal", strategy, prompt=False)
    assert len(set(found)) == COUNT


@pytest.mark.no_cover
@pytest.mark.parametrize("strategy", strategies.names())
def test_questions_that_wait_come_in_their_order_after_a_restart(strategy: str, tmp_path: Path) -> None:
    found = asked(tmp_path, "one.journal", strategy, prompt=True)
    assert found == asked(tmp_path, "many.journal", strategy, prompt=True, stops=True)
