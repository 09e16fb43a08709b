"""Files of other tools: read, and written again with labels; what is there stays."""

import json
from pathlib import Path

import pytest

from steelyard.active.label_store import Document
from steelyard.io.errors import InputError
from steelyard.labelling import exchange
from steelyard.labelling.exchange import Outcome, label_studio, prodigy, ris

FILES = Path(__file__).parent.parent / "data/labelling"
NAMES = {"ris": "references.ris", "label-studio": "label-studio.json", "prodigy": "prodigy.jsonl"}
CLASSES = ("ham", "spam")


def outcomes(documents: list[Document], labels: list[str | None]) -> list[Outcome]:
    return [
        Outcome(document, label, label is None, "ann", 1700000000.0, CLASSES[1], {CLASSES[1]: 0.75})
        for document, label in zip(documents, labels, strict=True)
    ]


@pytest.mark.parametrize("name", exchange.TOOLS)
def test_round_trips(name: str, tmp_path: Path) -> None:
    tool, source = exchange.by_name(name), FILES / NAMES[name]
    assert exchange.recognise(str(source)) == name
    documents = list(tool.read(source, CLASSES))
    labels = [CLASSES[k % 2] for k in range(len(documents))]
    written = tmp_path / source.name
    tool.write(outcomes(documents, list(labels)), CLASSES, written)
    again = list(tool.read(written, CLASSES))
    assert [each.label for each in again] == labels
    assert [each.id for each in again] == [each.id for each in documents]
    for before, after in zip(documents, again, strict=True):
        shown = before.fields.keys() - {exchange.ORIGINAL}
        assert {key: after.fields[key] for key in shown} == {key: before.fields[key] for key in shown}


def test_references() -> None:
    first, second, third, fourth = ris.read(FILES / NAMES["ris"], ("irrelevant", "relevant"))
    assert first.id == "101"
    assert first.label == "relevant"
    assert first.fields["abstract"] == "We show that relevance can be found with fewer labels than usual."
    assert first.fields["keywords"] == "screening; active learning"
    assert first.fields["authors"] == "Doe, Jane; Roe, Richard"
    assert (second.label, second.fields["abstract"]) == ("irrelevant", "Cats are not relevant here.")
    assert (third.id, third.label, "abstract" in third.fields) == ("3", None, False)
    assert fourth.fields["abstract"] == "It was cut off: <script>alert(1)</script>"


def test_notes_of_others_stay(tmp_path: Path) -> None:
    classes = ("irrelevant", "relevant")
    documents = list(ris.read(FILES / NAMES["ris"], None))
    assert {each.label for each in documents} == {None}
    given = [
        Outcome(each, label, False, None, None, "relevant", {"relevant": 0.5})
        for each, label in zip(documents, ("relevant", "relevant", None, "irrelevant"), strict=True)
    ]
    ris.write(given, classes, tmp_path / "out.ris")
    text = (tmp_path / "out.ris").read_text()
    assert text.count("N1  - a note of mine") == 1
    assert text.count("ASReview_relevant") == 2
    assert text.count("ASReview_not_seen") == 1
    assert text.count("ER  - ") == 4


def test_tasks_of_label_studio(tmp_path: Path) -> None:
    documents = list(label_studio.read(FILES / NAMES["label-studio"], CLASSES))
    assert [each.label for each in documents] == ["spam", None, None]
    assert documents[0].fields["source"] == "inbox"
    nothing = Outcome(documents[2], None, False, None, None, "ham", {"ham": 0.75})
    label_studio.write([*outcomes(documents[:2], ["ham", None]), nothing], CLASSES, tmp_path / "out.json")
    first, second, third = json.loads((tmp_path / "out.json").read_text())
    assert (first["id"], first["meta"], first["data"]["length"]) == (11, {"batch": 3}, 15)
    (annotation,) = first["annotations"]
    assert annotation["result"][0] == {
        "from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["ham"]}
    }  # fmt: skip
    assert second["annotations"] == [{"result": [], "was_cancelled": True}]
    assert third["annotations"] == []
    assert [each["predictions"][0]["score"] for each in (first, second, third)] == [0.75, 0.75, 0.75]


def test_tasks_without_texts(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text('[{"data": {"price": 3}}]')
    (document,) = label_studio.read(path, CLASSES)
    label_studio.write(outcomes([document], ["ham"]), CLASSES, path)
    assert json.loads(path.read_text())[0]["annotations"][0]["result"][0]["to_name"] == "text"


def test_answers_of_prodigy(tmp_path: Path) -> None:
    documents = list(prodigy.read(FILES / NAMES["prodigy"], CLASSES))
    assert [each.label for each in documents] == ["spam", "ham", None, None]
    assert [each.label for each in prodigy.read(FILES / NAMES["prodigy"], ("a", "b"))] == [None] * 4
    assert {each.label for each in prodigy.read(FILES / NAMES["prodigy"], None)} == {None}
    nothing = Outcome(documents[3], None, False, None, None, "ham", {"ham": 0.75})
    prodigy.write([*outcomes(documents[:3], ["ham", "spam", None]), nothing], CLASSES, tmp_path / "out.jsonl")
    first, second, third, fourth = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert (first["accept"], first["answer"], first["_task_hash"]) == (["ham"], "accept", 2001)
    assert second["accept"] == ["spam"]
    assert "label" not in second
    assert (third["accept"], third["answer"], third["_annotator_id"]) == ([], "ignore", "ann")
    assert "answer" not in fourth


@pytest.mark.parametrize(
    ("tool", "name", "content", "message"),
    [
        (ris, "a.ris", "some text\n", "line 1: 'some text' is before any reference"),
        (label_studio, "a.json", "[", "is no JSON"),
        (label_studio, "a.json", '[{"text": "a"}]', "task 1 has no 'data'"),
        (prodigy, "a.jsonl", '{"text": "a"}\n\n{"text"\n', "line 3: is no JSON"),
        (prodigy, "a.jsonl", '{"title": "a"}\n', "line 1: has no 'text'"),
    ],
)
def test_bad_files(tool: exchange.Tool, name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        list(tool.read(path, CLASSES))


def test_other_files_are_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for content in ("id,text\n1,a\n", '{"text": "a"}\n', "[1]\n"):
        path.write_text(content)
        assert exchange.recognise(str(path)) is None
    assert exchange.recognise(str(tmp_path / "none.csv")) is None
