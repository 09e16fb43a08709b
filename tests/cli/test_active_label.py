"""`steelyard active label` and `active export`: from a file to a page, and from a journal to files."""

import importlib.util
import json
import os
import re
import signal
import sqlite3
import threading
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
import uvicorn

from steelyard.active.label_store import LabelStore
from steelyard.labelling import corpus, server
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.project import Project
from steelyard.labelling.session import LabellingSession
from tests.cli.running import refused, run
from tests.labelling.projects import answer, begin, patience, write_table

__all__ = ["patience"]  # a fixture
TOOLS = Path(__file__).parent.parent / "data/labelling"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[LabellingSession]:
    """Sessions that would be served; somebody labels three documents in each."""
    found: list[LabellingSession] = []

    def serve(session: LabellingSession, listening: Any) -> None:
        session.start()
        if "message" in session.project.texts:
            answer(session, 3)
        session.close()
        listening.close()
        found.append(session)

    monkeypatch.setattr(server, "serve", serve)
    return found


def label(*arguments: Any) -> str:
    return run("active", "label", *arguments, "--no-open", "--port", 0).stderr


def test_a_file_is_labelled_and_continued(tmp_path: Path, served: list[LabellingSession]) -> None:
    file = write_table(tmp_path / "m.csv")
    said = label(file, "--classes", "ham,spam", "--budget", 40, "--twice", 0.1, "--seed", 3)
    assert "message  text" in said
    assert "120 documents" in said
    assert re.search(r"http://127\.0\.0\.1:\d+/[\w-]{24}/", said)
    assert "stopped with 3 labels" in said
    more = tmp_path / "more.csv"
    more.write_text("id,hour,sender,message\n500,1,a,quite another text\n501,2,b,and one more\n")
    said = label(f"{file}.journal", "--budget", 50, "--grow", more)
    assert "122 documents" in said
    assert "3 labels so far" in said
    settings = served[1].project.settings
    assert (settings.budget, settings.twice, settings.measure, settings.target) == (50, 0.1, "error", 0.05)
    label(file, "--budget", 10, "--classes", "ham, spam")
    assert served[2].project.settings == replace(settings, budget=10)
    label(
        file,
        "--target",
        0.1,
        "--twice",
        0.2,
        "--seed",
        3,
        "--audit",
        0,
        "--no-screening",
        "--text",
        "message",
    )
    assert served[3].project.settings == replace(settings, budget=10, target=0.1, twice=0.2)
    fixed = [("--classes", "ham,spma"), ("--positive", "ham"), ("--strategy", "margin"), ("--audit", "0.05")]
    for given in (*fixed, ("--seed", "0"), ("--format", "ris")):
        said = refused("active", "label", file, *given, "--no-open", "--port", 0)
        assert f"was begun with {given[0]} " in said
    assert "was begun with --no-screening;" in refused("active", "label", file, "--screening")
    for given in (("--text", "sender"), ("--ignore", "hour"), ("--label", "sender")):
        assert f"was begun without {' '.join(given)};" in refused("active", "label", file, *given)


def test_labels_of_the_file_cannot_be_hidden_later(tmp_path: Path, served: list[LabellingSession]) -> None:
    file = tmp_path / "l.csv"
    file.write_text("text,label\nsome words here,yes\nother words there,\nand a third text,no\n")
    label(file)
    assert len(served[0].labels) == 2
    assert "was begun without --hide-labels;" in refused("active", "label", file, "--hide-labels")


def test_estimates_meet_another_target(tmp_path: Path) -> None:
    with begin(tmp_path, target=0.9) as project:
        kept = {"measure": "error", "value": 0.1, "low": 0.0, "high": 0.3, "met": True}
        project.store.add_estimate(30, kept)
        for target, met in ((0.9, True), (0.2, False), (0.3, True)):
            project.change(target=target)
            assert LearnerFeed(project, project.classifier()).estimates[0]["met"] is met


def test_screening_and_hidden_labels(
    tmp_path: Path, served: list[LabellingSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", opened.append)
    run("active", "label", TOOLS / "references.ris", "--journal", tmp_path / "a.journal", "--port", 0)
    settings = served[0].project.settings
    assert (settings.classes, settings.measure, settings.target) == (
        ("irrelevant", "relevant"),
        "recall",
        0.95,
    )
    assert opened[0].endswith(f"/{settings.token}/")
    assert len(served[0].labels) == 2
    label(TOOLS / "references.ris", "--journal", tmp_path / "b.journal", "--hide-labels", "--no-screening")
    assert not served[1].labels
    assert served[1].project.settings.classes == ("no", "yes")


def test_what_cannot_be_labelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_table(tmp_path / "m.csv")
    assert "there is no such file" in refused("active", "label", tmp_path / "none.csv")
    assert "two or more different names" in refused("active", "label", file, "--classes", "a")
    assert not list(tmp_path.glob("*.journal*"))
    (tmp_path / "one.csv.journal").write_text("no journal at all, but long enough to be looked at " * 20)
    (tmp_path / "one.csv").write_text("text\nsome words\n")
    assert "is not a journal" in refused("active", "label", tmp_path / "one.csv")
    from steelyard.active.journal import Journal

    with Journal(tmp_path / "plain.journal"):
        pass
    assert "is a journal without documents" in refused("active", "label", tmp_path / "plain.journal")
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name))
    assert "pip install 'steelyard[label]'" in refused("active", "label", file)


def test_ports(tmp_path: Path) -> None:
    taken = server.bind(0)
    with begin(tmp_path) as project:
        path = project.path
    port = taken.getsockname()[1]
    said = refused("active", "label", path, "--port", port, "--no-open")
    assert f"port {port}: Address already in use" in said
    taken.close()


def test_the_server_stops_when_told(tmp_path: Path) -> None:
    with begin(tmp_path) as project:
        session, listening = LabellingSession(project), server.bind(0)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/{project.settings.token}/"

        def visit() -> None:
            for _ in range(1200):
                try:
                    with urllib.request.urlopen(f"{address}api/next?client=a&annotator=b") as reply:
                        found.append(json.load(reply))
                        break
                except OSError:
                    time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGTERM)

        found: list[dict[str, Any]] = []
        visitor = threading.Thread(target=visit)
        visitor.start()
        server.serve(session, listening)
        visitor.join()
        assert found[0]["question"]["texts"]


def test_a_signal_before_the_server_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = uvicorn.Server.run

    def run_later(self: uvicorn.Server, **options: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        before(self, **options)

    monkeypatch.setattr(uvicorn.Server, "run", run_later)
    with begin(tmp_path) as project:
        server.serve(LabellingSession(project), server.bind(0))


def test_everything_is_exported(tmp_path: Path) -> None:
    with begin(tmp_path) as project:
        session = LabellingSession(project)
        session.start()
        answer(session, 20)
        assert session.worker.wait()
        session.certify("error", 0.4)
        while session.attempts.current is not None:
            answer(session, 1)
        # Others may read while it is in use.
        output, model, certificate = (tmp_path / name for name in ("out.csv", "spam.model", "c.json"))
        said = run(
            "active", "export", project.path, "-o", output, "--model", model, "--certificate", certificate
        ).stderr
        assert f"{output}: 120 documents" in said
        assert "note:" not in said  # the predictions are the certified ones, and the model is theirs
        answer(session, 1)
        assert session.worker.wait()
        later = run("active", "export", project.path, "--certificate", tmp_path / "later.json").stderr
        start = project.journal.attempts.read(1)
        assert start is not None
        learned = len(session.feed.classifier.learner_.labelled) - start[0]["learned"]
        assert f"since then the model has learned {learned} labels" in later
        session.close()
        (tmp_path / "more.csv").write_text("id,hour,sender,message\n500,1,a,quite another text\n")
        project.grow(corpus.read(str(tmp_path / "more.csv"), classes=("ham", "spam")))
        project.classifier()  # the learner takes note of them when it is opened
        again = ["active", "export", project.path, "--certificate", tmp_path / "later.json"]
        assert "later.json already exists; name another file, or replace it with --force" in refused(*again)
        later = run(*again, "--force").stderr
        assert "so its predictions have changed and 1 document was added: for what is there now" in later
    assert run("active", "verify", certificate).stdout.startswith("certified: error below 0.4")
    scored = tmp_path / "scored.csv"
    run("predict", model, tmp_path / "messages.csv", "-o", scored)
    exported = [line.rsplit(",", 1)[-1] for line in output.read_text().splitlines()[1:]]
    predicted = [line.rsplit(",", 1)[-1] for line in scored.read_text().splitlines()[1:]]
    assert [float(each) for each in exported] == pytest.approx([float(each) for each in predicted], abs=1e-6)
    run("active", "export", project.path, "--model", model)
    run("active", "export", project.path, "--certificate", certificate, "--force")
    run("active", "export", project.path, "-o", output, "--force")


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    from steelyard.active.journal import Journal

    path = tmp_path / "plain.journal"
    assert "there is no such file" in refused("active", "export", path, "-o", tmp_path / "a.csv")
    with Journal(path):
        pass
    assert "say what to write" in refused("active", "export", path)
    assert "has no documents" in refused("active", "export", path, "-o", tmp_path / "a.csv")
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE cats (name TEXT)")
    db.close()
    assert "is not a journal" in refused("active", "export", tmp_path / "other.db", "-o", tmp_path / "a.csv")


def test_projects_of_documents_that_cannot_be_learned(tmp_path: Path) -> None:
    with begin(tmp_path) as project:
        path = project.path
        project.classifier()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE documents SET fields = json_set(fields, '$.hour', json('[[1]]')) WHERE row = 3")
    db.close()
    said = refused("active", "export", path, "-o", tmp_path / "a.csv")
    assert "some document cannot be learned from: column hour" in said
    with Project(path, read_only=True) as reading:
        assert reading.others == ("hour", "sender")


def test_a_second_server_says_where_the_first_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, said = write_table(tmp_path / "messages.csv", 20), []

    def serve(session: LabellingSession, listening: Any) -> None:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/{session.project.settings.token}/"
        said.append(refused("active", "label", file, "--no-open", "--port", 0))
        assert f"{file}.journal: another process is using it, at {address}" in said[0]
        listening.close()

    monkeypatch.setattr(server, "serve", serve)
    label(file, "--classes", "ham,spam")
    assert said


def test_the_default_strategy_suits_the_columns(
    tmp_path: Path, served: list[LabellingSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts alone: margin sampling, with a tenth of the labels for an estimate. Else iwal."""
    # All of it is stored with the documents: a process that dies later leaves no project without its audit.
    monkeypatch.delattr(LabelStore, "save_project")
    texts, mixed = tmp_path / "texts.txt", write_table(tmp_path / "mixed.csv")
    texts.write_text("".join(f"message {number} about {number % 7}\n" for number in range(200)))
    for file, given, strategy, audit in (
        (texts, ("--budget", 50), "margin", 0.025),
        (texts, ("--strategy", "margin"), "margin", 0.0),
        (texts, ("--audit", 0.2), "margin", 0.2),
        (texts, ("--screening",), "relevance", 0.0),
        (mixed, (), "iwal", 0.0),
    ):
        journal = tmp_path / f"{len(served)}.journal"
        label(file, "--classes", "ham,spam", "--journal", journal, *given)
        settings = served[-1].project.settings
        assert settings.strategy == strategy
        assert settings.audit == pytest.approx(audit)
        assert settings.tfidf == (file == texts)
