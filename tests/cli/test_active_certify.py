"""`steelyard active certify`: the model of a journal, on the rows of a file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import ActiveClassifier
from tests.cli.running import refused, run
from tests.cli.test_active_ask import BASIC

ROWS = [{"text": "cheap pills" if number % 3 == 0 else "lunch today"} for number in range(60)]


def truth(row: dict[str, str]) -> str:
    return "spam" if "cheap" in row["text"] else "ham"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    lines = []
    for number in range(12):
        row = ROWS[number]
        lines += [{"example": row}, {"id": number, "label": truth(row)}]
    path = tmp_path / "a.journal"
    text = "".join(json.dumps(line) + "\n" for line in lines)
    run(*BASIC, "--rate", 1.0, "--journal", path, stdin=text.encode())
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def certify(journal: Path, *options: Any, replies: list[Any]) -> list[dict[str, Any]]:
    text = "".join((reply if isinstance(reply, str) else json.dumps(reply)) + "\n" for reply in replies)
    said = run(
        "active",
        "certify",
        journal.parent / "rows.jsonl",
        "--journal",
        journal,
        *options,
        stdin=text.encode(),
    ).stdout
    return [json.loads(line) for line in said.splitlines()]


def test_it_asks_goes_on_and_certifies(journal: Path, tmp_path: Path) -> None:
    options = ("--error", 0.2, "--certificate", tmp_path / "proof.json")
    question, bad, *_, state = certify(journal, *options, replies=["[]"])
    assert question["row"] in range(60)
    assert question["example"] == ROWS[question["row"]]
    assert question["prediction"] == truth(question["example"])
    assert "a line is an object" in bad["error"]
    assert (state["certified"], state["over"]) == (False, False)
    assert not (tmp_path / "proof.json").exists()
    row = question["row"]
    wrong: list[Any] = [{"row": -1}, {"row": row}, {"row": row, "label": 0}]
    said = certify(journal, *options, replies=[{"row": row, "skip": True}, {"undo": True}, *wrong])
    assert (said[0]["row"], said[2]["row"]) == (row, row)
    assert "the row is missing or is not" in said[3]["error"]
    assert "this is none of" in said[5]["error"]
    assert "has the label '0'" in said[7]["error"]
    for _ in range(40):  # each call answers one question: as if it were killed every time
        last = certify(journal, *options, replies=[{"row": row, "label": truth(ROWS[row])}])
        if last[-1]["certified"]:
            break
        row = last[-2]["row"]
    assert last[-1]["says"].startswith("certified: error below 0.2 on 48 rows without a label")
    for name in ("proof.json", "proof.html"):
        assert (tmp_path / name).exists()
    (tmp_path / "proof.json").unlink()  # as if it had been killed before it wrote the certificate
    (again,) = certify(journal, *options, replies=[])
    assert again == last[-1]
    checked = run("active", "verify", tmp_path / "proof.json", "--journal", journal).stdout
    assert checked.endswith(f"{journal} has the same attempt, with these predictions and answers\n")
    assert "No such file" in refused(
        "active", "verify", tmp_path / "proof.json", "--journal", tmp_path / "no"
    )


def test_plans_precision_and_giving_up(journal: Path) -> None:
    (question, state) = certify(journal, "--precision", 0.5, "--plan", 0.95, "--alpha", 0.2, replies=[])
    assert question["prediction"] == "spam"
    assert set(question["plan"]) == {"labels", "most_wrong"}
    assert not state["over"]
    said = refused("active", "certify", journal.parent / "rows.jsonl", "--journal", journal, "--error", 0.2)
    assert "attempt 1 (precision at least 0.5 on 16 rows without a label) is not over" in said
    row = question["row"]
    replies = [{"row": row, "label": "spam"}, {"end": True}]
    *_, state = certify(journal, "--precision", 0.5, "--plan", 0.95, "--alpha", 0.2, replies=replies)
    assert (state["certified"], state["over"]) == (False, True)
    (status,) = [
        json.loads(line)
        for line in run(*BASIC, "--rate", 1.0, "--journal", journal, stdin=b"").stdout.splitlines()
    ]
    assert status["answered"] == 12


def test_what_it_cannot_do(journal: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    assert "say what to certify" in refused("active", "certify", rows, "--journal", journal)
    missing = refused("active", "certify", rows, "--journal", tmp_path / "no.journal", "--error", 0.1)
    assert "No such file" in missing
    rows.write_text("{", encoding="utf-8")
    said = refused("active", "certify", rows, "--journal", journal, "--error", 0.1)
    assert "every line must be a JSON object" in said
    rows.write_text("", encoding="utf-8")
    assert "the file has none" in refused("active", "certify", rows, "--journal", journal, "--error", 0.1)


def test_a_pool_is_certified_where_it_is(journal: Path, tmp_path: Path) -> None:
    other = tmp_path / "pool.journal"
    active = ActiveClassifier(classes=["ham", "spam"], rate=0.5, journal=other).pool(np.eye(4))
    active.close()
    said = refused("active", "certify", tmp_path / "rows.jsonl", "--journal", other, "--error", 0.1)
    assert "asks from a pool of its own" in said


def test_recall_counts_what_was_asked_for(journal: Path, tmp_path: Path) -> None:
    options = ("--recall", 0.5, "--certificate", tmp_path / "proof.json")
    (question, _) = certify(journal, *options, replies=[])
    assert question["found"] == 4  # of the twelve rows that the journal has
    row, drawn = question["row"], []
    while True:
        drawn.append(row)
        *_, asked, last = certify(journal, *options, replies=[{"row": row, "label": truth(ROWS[row])}])
        if last["over"]:
            break
        row = asked["row"]
    assert last["says"].startswith("certified: recall of 'spam' at least 0.5 in 60 rows")
    proof = json.loads((tmp_path / "proof.json").read_text())
    assert len(proof["reads"]) == 12
    assert not {read[0] for read in proof["reads"]} & set(drawn)
    found = sum(truth(ROWS[each]) == "spam" for each in drawn) + 4
    assert found >= 10
    assert run("active", "verify", tmp_path / "proof.json", "--journal", journal).stdout.endswith("answers\n")


def test_recall_is_about_the_rows_of_the_file(journal: Path) -> None:
    (journal.parent / "rows.jsonl").write_text((json.dumps(ROWS[1]) + "\n") * 30, encoding="utf-8")
    (question, _) = certify(journal, "--recall", 0.5, replies=[])
    assert question["found"] == 0  # what else the journal has is not among them


def test_certificates_of_other_attempts_stay(journal: Path, tmp_path: Path) -> None:
    """A weaker claim later must not take the place of a stronger one; and nothing else is replaced."""
    proof, rows = tmp_path / "proof.json", tmp_path / "rows.jsonl"
    answers = [{"row": number, "label": truth(row)} for number, row in enumerate(ROWS)]

    def through(*options: Any) -> Any:
        given = ("active", "certify", rows, "--journal", journal, *options, "--certificate", proof)
        replies: list[Any] = []
        while True:
            result = run(*given, stdin="".join(json.dumps(each) + "\n" for each in replies).encode())
            last = [json.loads(line) for line in result.stdout.splitlines()][-2:]
            if last[-1]["over"]:
                return result
            replies = [answers[last[0]["row"]]]

    assert (
        "on 48 rows without a label: about"
        in run("active", "certify", rows, "--journal", journal, "--error", 0.1, stdin=b"").stderr
    )
    through("--error", 0.1)
    stronger = proof.read_bytes()
    assert not through("--error", 0.1).stderr  # it holds, and is written again
    said = through("--error", 0.3).stderr
    assert f"{proof}: is of another attempt and stays; this is {tmp_path / 'proof-2.json'}" in said
    assert proof.read_bytes() == stronger
    assert json.loads((tmp_path / "proof-2.json").read_text())["target"] == 0.3
    given = ("active", "certify", rows, "--journal", journal, "--error", 0.2)
    assert "is not a certificate; name another file" in refused(*given, "--certificate", rows)
    for claim, text in (
        (("--recall", 0.9), "labels if nothing more is found, more otherwise"),
        (("--error", 0.2, "--plan", 0.05), "may be wrong"), (("--error", 0.01), "labels if none is wrong"),
    ):  # fmt: skip
        given = ("active", "certify", rows, "--journal", journal, *claim)
        assert text in run(*given, stdin=b'{"end": true}\n').stderr
