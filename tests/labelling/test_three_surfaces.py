"""Certificates in Python, on the command line and in the page: the same draws, verdict and sentence."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from steelyard import ActiveClassifier
from steelyard.active.attempt import Attempt
from steelyard.active.identifiers import Item
from steelyard.active.journal import Journal
from steelyard.active.verification import verify_with_journal
from steelyard.examples import join
from steelyard.io import jsonl_reader
from steelyard.labelling import corpus
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import ProjectSettings
from steelyard.labelling.session import LabellingSession
from tests.cli.running import run
from tests.cli.test_active_ask import BASIC
from tests.labelling.projects import CLASSES

COUNT, READ = 90, 24
LABELS = ["spam" if number % 3 == 0 else "ham" for number in range(COUNT)]
_WORDS = {"spam": "cheap pills", "ham": "lunch today"}
ROWS = [{"text": f"{_WORDS[label]} {number}"} for number, label in enumerate(LABELS)]
Found = tuple[list[int], bool, str]


def _found(attempt: Attempt) -> Found:
    return [*attempt.drawn()], attempt.passed, str(attempt)


def in_python(folder: Path, measure: str, target: float) -> Found:
    bits = 10
    hashed = join([jsonl_reader.hash_object(row, bits) for row in ROWS])
    X = sparse.csr_matrix((hashed.values, hashed.indices, hashed.indptr), (COUNT, 1 << bits))
    active = ActiveClassifier(classes=list(CLASSES), budget=30).pool(X)
    active.teach(np.arange(READ), LABELS[:READ])
    return _found(active.certify(measure, target, label=LABELS.__getitem__))


def on_the_command_line(folder: Path, measure: str, target: float) -> Found:
    lines = []
    for number in range(READ):
        lines += [{"example": ROWS[number]}, {"id": number, "label": LABELS[number]}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    journal, rows, proof = folder / "a.journal", folder / "rows.jsonl", folder / "proof.json"
    run(*BASIC, "--rate", 1.0, "--journal", journal, stdin=text.encode())
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    given = ("active", "certify", rows, "--journal", journal, f"--{measure}", target, "--certificate", proof)
    reply = b""
    while True:
        *asked, last = map(json.loads, run(*given, stdin=reply).stdout.splitlines())
        if last["over"]:
            break
        row = asked[-1]["row"]
        reply = json.dumps({"row": row, "label": LABELS[row]}).encode()
    written = json.loads(proof.read_text())
    with Journal(journal, read_only=True) as kept:
        assert str(verify_with_journal(written, kept)) == last["says"]
    return [draw["row"] for draw in written["draws"]], last["certified"], last["says"]


def in_the_page(folder: Path, measure: str, target: float) -> Found:
    table = folder / "messages.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with Project(folder / "messages.journal") as project:
        settings = ProjectSettings(CLASSES, "spam", budget=30)
        project.begin(corpus.read(str(table), classes=CLASSES), settings)
        session = LabellingSession(project)
        for item in map(Item, range(READ)):
            session.label("tab", "ann", item, LABELS[item])
        session.feed.tell({Item(row): {"ann": LABELS[row]} for row in range(READ)})
        session.worker.begin_attempt(measure, target)
        while (attempt := session.attempts.current) is not None:
            item, _ = session.assignments.choose("tab", "ann") or (Item(-1), "")
            session.label("tab", "ann", item, LABELS[item])
        attempt = session.feed.classifier.attempt_
        assert attempt is not None
        return _found(attempt)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("measure", "target"), [("error", 0.3), ("precision", 0.6), ("recall", 0.4), ("error", 0.01)]
)
def test_one_claim_is_the_same_everywhere(measure: str, target: float, tmp_path: Path) -> None:
    surfaces: tuple[Callable[[Path, str, float], Found], ...] = (in_python, on_the_command_line, in_the_page)
    found = {each.__name__: each(tmp_path, measure, target) for each in surfaces}
    drawn, _, says = found["in_python"]
    assert len(drawn) > 5
    assert not set(drawn) & set(range(READ))  # which have a label
    unlabelled = LABELS[READ:]
    size = unlabelled.count("spam") if measure == "precision" else len(unlabelled)
    assert (f"on {size} rows without a label" if measure != "recall" else f"in {COUNT} rows") in says
    assert found == dict.fromkeys(found, found["in_python"])
