"""Three classes on the page: documents, words that decide, estimates, a certificate, and files."""

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.active.identifiers import Item
from steelyard.active.label_store import Document
from steelyard.io.errors import InputError
from steelyard.labelling import corpus, exchange, export
from steelyard.labelling.exchange import label_studio, prodigy
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import ProjectSettings
from steelyard.labelling.session import LabellingSession
from steelyard.labelling.view import PageView
from tests.cli.running import run

CLASSES = ("sport", "art", "news")
_WORDS = {"sport": "goal team match", "art": "paint opera poem", "news": "vote law strike"}
TOOLS = Path(__file__).parent.parent / "data/labelling"


def truth(text: str) -> str:
    return next(name for name, words in _WORDS.items() if set(words.split()) & set(text.split()))


def begun(folder: Path, **given: object) -> Project:
    draw = random.Random(0)
    lines = []
    for number in range(90):
        words = _WORDS[draw.choice(CLASSES)].split()
        lines.append(
            " ".join([*draw.choices(words, k=2), *draw.choices(["the", "a", "of", "in"], k=3), f"n{number}"])
        )
    (folder / "texts.txt").write_text("\n".join(lines))
    project = Project(folder / "texts.journal")
    settings = ProjectSettings(CLASSES, **({"positive": None, "budget": 50} | given))  # type: ignore[arg-type]
    project.begin(corpus.read(str(folder / "texts.txt"), classes=CLASSES), settings)
    return project


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LabellingSession]:
    with begun(tmp_path) as project:
        found = LabellingSession(project)
        found.start()
        yield found
        found.close()


def text_of(session: LabellingSession, item: Item) -> str:
    return str(session.project.store.document(item).fields["text"])


def answer(session: LabellingSession, count: int) -> None:
    for _ in range(count):
        found = session.next("tab", "ann")
        assert found is not None
        session.label("tab", "ann", found[0], truth(text_of(session, found[0])))


def test_a_session(session: LabellingSession, tmp_path: Path) -> None:
    assert session.project.settings.tfidf  # since all columns are texts
    answer(session, 30)
    assert session.worker.wait()
    view = PageView(session)
    assert view.about()["classes"] == list(CLASSES)
    assert view.about()["positive"] is None
    assert sum(view.state("ann")["counts"]) == 30
    last = session.feed.estimates[-1]
    assert last["measure"] == "error"
    assert 0.0 <= last["low"] <= last["high"] < 1.0
    marked = 0
    for item in map(Item, range(session.feed.items)):
        shown = view.document(item, "ann")
        own = truth(text_of(session, item))
        words = {text for _, pieces in shown["texts"] for text, level in pieces if level > 0}
        marked += shown["marked_for"] == own and words & set(_WORDS[own].split()) != set()
    assert marked > 0.9 * session.feed.items
    with pytest.raises(InputError, match="neither sport nor art nor news"):
        session.label("tab", "ann", Item(0), "ham")
    session.certify("error", 0.3)
    while session.attempts.current is not None:
        answer(session, 1)
    assert session.attempts.last is not None
    assert session.attempts.last["passed"]
    export.write(session.project, session.feed, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]][-3:] == [f"probability_{name}" for name in CLASSES]
    for row in rows:
        chances = {name: float(row[f"probability_{name}"]) for name in CLASSES}
        assert sum(chances.values()) == pytest.approx(1.0)
        assert row["prediction"] == max(chances, key=chances.__getitem__)
    said = run("active", "export", session.project.path, "--model", tmp_path / "texts.model").stderr
    assert "texts.model: has learned the answers and, of all other documents" in said
    texts = [text_of(session, Item(row)) for row in range(session.feed.items)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    run("predict", tmp_path / "texts.model", tmp_path / "texts.jsonl", "-o", tmp_path / "scored.csv")
    with (tmp_path / "scored.csv").open(newline="") as file:
        right = [row["prediction"] == truth(row["text"]) for row in csv.DictReader(file)]
    assert sum(right) > 0.9 * len(texts)
    known = "".join(json.dumps({"text": text, "label": truth(text)}) + "\n" for text in texts)
    (tmp_path / "known.jsonl").write_text(known)
    found = json.loads(run("evaluate", tmp_path / "texts.model", tmp_path / "known.jsonl", "--json").stdout)
    assert found["accuracy"] == pytest.approx(sum(right) / len(texts))


def test_a_model_of_numbers_and_texts_is_that_of_the_page(tmp_path: Path) -> None:
    draw, rows = random.Random(0), []
    for number in range(90):
        name = draw.choice(CLASSES)
        rows.append(
            f"{' '.join(draw.choices(_WORDS[name].split(), k=3))},{number % 7},{name if number < 60 else ''}"
        )
    (tmp_path / "rows.csv").write_text("\n".join(["text,hour,label", *rows, ""]))
    with Project(tmp_path / "rows.journal") as project:
        found = corpus.read(str(tmp_path / "rows.csv"), classes=CLASSES)
        project.begin(found, ProjectSettings(CLASSES, None, budget=10))
        assert not project.settings.tfidf
        session = LabellingSession(project)
        session.start()
        answer(session, 5)
        assert session.worker.wait()
        project.save_model(tmp_path / "m.model", session.feed.classifier)
        session.close()
    right = json.loads(run("evaluate", tmp_path / "m.model", tmp_path / "rows.csv", "--json").stdout)
    assert right["accuracy"] > 0.9


def test_the_next_process_goes_on(tmp_path: Path) -> None:
    with begun(tmp_path, strategy="margin", positive="news") as project:
        session = LabellingSession(project)
        session.start()
        answer(session, 15)
        assert session.worker.wait()
        before = session.feed.classifier.coef_
        session.close()
    with Project(tmp_path / "texts.journal") as project:
        again = LabellingSession(project)
        assert (again.feed.classifier.coef_ == before).all()
        assert again.feed.classifier.positive_ == "news"


def test_screening_is_for_two_classes() -> None:
    for given in ({"measure": "recall"}, {"strategy": "relevance"}):
        with pytest.raises(InputError, match="screening looks for one of two classes, and 3 are named"):
            ProjectSettings(CLASSES, None, **given)  # type: ignore[arg-type]


def test_files_of_tools(tmp_path: Path) -> None:
    task = {"text": "a", "label": "art", "answer": "reject"}
    (tmp_path / "tasks.jsonl").write_text('{"text": "a", "label": "art", "answer": "reject"}\n')
    for classes, label in ((CLASSES, None), (("art", "news"), "news")):
        (document,) = prodigy.read(tmp_path / "tasks.jsonl", classes)
        assert document.label == label
    assert {each.label for each in exchange.by_name("ris").read(TOOLS / "references.ris", CLASSES)} == {None}
    chances = {"sport": 0.2, "art": 0.5, "news": 0.3}
    outcome = exchange.Outcome(
        Document("1", {"text": "a", exchange.ORIGINAL: {"data": task}}),
        None,
        False,
        None,
        None,
        "art",
        chances,
    )
    label_studio.write([outcome], CLASSES, tmp_path / "out.json")
    assert '"score": 0.5' in (tmp_path / "out.json").read_text()
    with Project(tmp_path / "ris.journal") as project:
        references = corpus.read(str(TOOLS / "references.ris"), classes=CLASSES)
        project.begin(references, ProjectSettings(CLASSES, None, kind="ris"))
        session = LabellingSession(project)
        feed = session.feed
        assert PageView(session).about()["exchange"] is None
        with pytest.raises(InputError, match="notes of RIS files know two classes"):
            export.write(project, feed, tmp_path / "out.ris")
        export.write(project, feed, tmp_path / "out.jsonl")
