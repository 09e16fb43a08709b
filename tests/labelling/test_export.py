"""Files that are written: all documents, without the source file and while others label."""

import csv
import json
from pathlib import Path

import pytest

from steelyard import model_file
from steelyard.io.errors import InputError
from steelyard.labelling import corpus, export
from steelyard.labelling.app import LabellingApp
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import ProjectSettings
from steelyard.labelling.session import LabellingSession
from steelyard.labelling.view import PageView
from tests.labelling.projects import answer, text_of
from tests.labelling.web import WebClient

TOOLS = Path(__file__).parent.parent / "data/labelling"


def test_a_text_that_is_called_label_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("label\n" + "free prize cash\nlunch at home\n" * 2)
    with Project(tmp_path / "odd.journal") as project:
        project.begin(
            corpus.read(str(path), classes=None), ProjectSettings(("ham", "spam"), "spam", budget=2)
        )
        session = LabellingSession(project)
        session.start()
        for _ in range(2):
            found = session.next("tab", "ann")
            assert found is not None
            text = project.store.document(found[0]).fields["label"]
            session.label("tab", "ann", found[0], "spam" if "free" in text else "ham")
        assert session.worker.wait()
        project.save_model(tmp_path / "odd.model", session.feed.classifier)
        session.close()
    spec = model_file.load(tmp_path / "odd.model").spec
    assert spec is not None
    assert [column[:2] for column in spec["columns"]["columns"]] == [["label", "text"]]


def test_tables(session: LabellingSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_AT_ONCE", 50)
    done = answer(session, 20)
    session.label("tab", "ann", done[0], None)
    assert session.worker.wait()
    Path(session.project.path.removesuffix(".journal")).unlink()  # the source is not needed
    with Project(session.project.path, read_only=True) as reading:
        feed = LearnerFeed(reading, reading.classifier())
        for name in ("out.csv", "out.jsonl", "out.parquet"):
            export.write(reading, feed, tmp_path / name)
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]] == [
        "id", "hour", "sender", "message", "answer", "annotator", "answered_at", "prediction",
        "probability_spam",
    ]  # fmt: skip
    assert len(rows) == 120
    by_text = {row["message"]: row for row in rows}
    for item in done[1:]:
        row = by_text[text_of(session, item)]
        assert row["answer"] in ("ham", "spam")
        assert row["annotator"] == "ann"
        assert row["answered_at"].endswith("+00:00")
    assert by_text[text_of(session, done[0])]["answer"] == ""
    labelled = {text_of(session, item) for item in done[1:]}
    assert {row["message"] for row in rows if row["answer"]} == labelled
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [str(each["answer"] or "") for each in found] == [row["answer"] for row in rows]
    assert 0.0 <= found[0]["probability_spam"] <= 1.0
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").num_rows == 120
    with pytest.raises(InputError, match="the suffix says the format"):
        export.write(session.project, session.feed, tmp_path / "out.exe")
    with pytest.raises(InputError, match="came from a table file, of which no ris file can be made"):
        export.write(session.project, session.feed, tmp_path / "out.ris")
    with pytest.raises(InputError, match="there is no certificate"):
        export.write_certificate(session.project, tmp_path / "certificate.json", session.feed.classifier)


@pytest.mark.parametrize("name", ["references.ris", "label-studio.json", "prodigy.jsonl"])
def test_files_of_tools(name: str, tmp_path: Path) -> None:
    classes = ("ham", "spam")
    found = corpus.read(str(TOOLS / name), classes=classes, hide_labels=True)
    with Project(tmp_path / "tool.journal") as project:
        project.begin(found, ProjectSettings(classes, "spam", budget=3, kind=found.kind))
        session = LabellingSession(project)
        session.start()
        first = session.next("tab", "ann")
        assert first is not None
        session.label("tab", "ann", first[0], "spam")
        session.close()
        assert PageView(session).about()["exchange"] == found.kind
        client = WebClient(LabellingApp(session).starlette(), f"http://127.0.0.1/{project.settings.token}/")
        saved = client.get("api/download", params={"kind": found.kind}).content
        (tmp_path / f"out{Path(name).suffix}").write_bytes(saved)
        again = corpus.read(str(tmp_path / f"out{Path(name).suffix}"), classes=classes, kind=found.kind)
        labels = [each.label for each in again.documents]
        assert labels.count("spam") == 1
        export.write(project, session.feed, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text().startswith("id,")
