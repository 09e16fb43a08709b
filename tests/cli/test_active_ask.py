"""`steelyard active ask`: lines of JSON in and out."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import ActiveClassifier
from steelyard.examples import Examples
from steelyard.io import jsonl_reader
from steelyard.io.errors import InputError
from tests.cli.running import refused, run

CLIENT = Path(__file__).parent.parent.parent / "docs/examples/active_client.py"
RECALL = {"estimate": "recall", "of": "progressive"}
BASIC = ("active", "ask", "--classes", "ham,spam", "--bits", 10)


def talk(*lines: Any, options: tuple[Any, ...] = ("--rate", 0.5)) -> list[dict[str, Any]]:
    """What is said to each line, after the first status."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    said = run(*BASIC, *options, stdin=text.encode()).stdout.splitlines()
    return [json.loads(line) for line in said]


def test_examples_labels_skips_and_undos() -> None:
    example = {"example": {"text": "Buy, buy now", "price": 3, "new": True, "old": None}}
    status, first, second, labelled, skipped, undone, last = talk(
        example, example, "", {"id": 1, "label": "spam"}, {"id": 0, "skip": True}, {"undo": True},
        {"status": True},
    )  # fmt: skip
    assert status == {"seen": 0, "asked": 0, "answered": 0, "skipped": 0, "open": [], "spent": False}
    assert first == {"id": 0, "ask": True, "probability": 1.0, "prediction": 0.0, "class": "ham"}
    assert second["id"] == 1
    assert labelled == {"id": 1, "answered": True}
    assert skipped == {"id": 0, "skipped": True}
    assert undone == {"id": 0, "undone": True}
    assert last == {"seen": 2, "asked": 2, "answered": 1, "skipped": 0, "open": [0], "spent": False}


def test_it_learns() -> None:
    lines = []
    for number in range(6):
        lines += [
            {"example": {"text": "cheap" if number % 2 else "lunch"}},
            {"id": number, "label": "spam" if number % 2 else "ham"},
        ]
    *_, cheap, lunch = talk(*lines, {"example": {"text": "cheap"}}, {"example": {"text": "lunch"}})
    assert (cheap["class"], lunch["class"]) == ("spam", "ham")


def test_three_classes(tmp_path: Path) -> None:
    words = {"ham": "lunch", "spam": "cheap", "work": "meeting"}
    lines: list[Any] = []
    for number, label in enumerate([*words] * 8):
        lines += [{"example": {"text": words[label]}}, {"id": number, "label": label}]
    lines += [{"estimate": "error"}, {"estimate": "recall"}, {"id": 0, "label": "eggs"}]
    options = ("active", "ask", "--classes", "ham,spam,work", "--bits", 10, "--rate", 1.0)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    journal = tmp_path / "three.journal"
    said = run(*options, "--journal", journal, stdin=text.encode()).stdout.splitlines()
    *_, example, _, error, recall, label_ = map(json.loads, said)
    assert example["class"] == "work"
    assert 0.3 < example["confidence"] <= 1.0
    assert "prediction" not in example
    assert error["value"] < 0.3
    assert "recall is that of one" in recall["error"]
    assert "neither ham nor spam nor work" in label_["error"]
    assert "chooses among rows of two classes" in refused(*options, "--strategy", "relevance", stdin=b"")
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": word}) + "\n" for word in [*words.values()] * 12))
    again = ("active", "certify", rows, "--journal", journal)
    assert "of several classes, recall is that of one" in refused(*again, "--recall", 0.5, stdin=b"")
    asked = ""
    for _ in range(36):
        *_, question, last = map(
            json.loads, run(*again, "--error", 0.2, stdin=asked.encode()).stdout.splitlines()
        )
        if last["over"]:
            break
        true = next(name for name, word in words.items() if word == question["example"]["text"])
        asked = json.dumps({"row": question["row"], "label": true}) + "\n"
    assert last["certified"]


def test_a_journal_is_gone_on_from(tmp_path: Path) -> None:
    options = ("--budget", 20, "--expected", 100, "--journal", tmp_path / "a.journal")
    talk({"example": {"text": "a"}}, {"example": {"text": "b"}}, {"id": 0, "label": "ham"}, options=options)
    status, said = talk({"id": 1, "label": "spam"}, options=options)
    assert status["seen"] == 2
    assert status["open"] == [1]
    assert said == {"id": 1, "answered": True}
    journal = tmp_path / "a.journal"
    (status,) = talk(options=("--budget", 2, "--expected", 100, "--journal", journal))
    assert status["spent"]  # it may be lowered
    assert "was started with another expected" in refused(
        *BASIC, "--budget", 20, "--expected", 50, "--journal", journal, stdin=b""
    )


def test_estimates() -> None:
    lines: list[Any] = [{"estimate": "error"}]
    for number in range(60):
        lines += [
            {"example": {"text": "cheap" if number % 2 else "lunch"}},
            {"id": number, "label": "spam" if number % 2 else "ham"},
        ]
    lines += [
        {"estimate": "error", "of": "current"},
        {"estimate": "recall", "of": "pool", "level": 0.5},
        {"estimate": "loss", "of": "progressive", "largest": 4},
    ]
    options = ("--rate", 0.5, "--audit", 0.1)
    _, nothing, *_, error, recall, loss = talk(*lines, options=options)
    assert nothing == {
        "estimate": "error", "of": "current", "value": None, "low": 0.0, "high": 1.0, "level": 0.95,
        "rows": 0, "asked": 0, "skipped": 0, "answered": 0, "positive": None,
    }  # fmt: skip
    assert 0 < error["rows"] == error["answered"] < 30
    assert error["value"] < 0.1 < error["high"]
    assert (recall["level"], recall["rows"], recall["positive"]) == (0.5, 60, "spam")
    assert 0.0 <= loss["low"] <= loss["value"] <= loss["high"] <= 4.0


def test_strategies(tmp_path: Path) -> None:
    options = ("--rate", 0.5, "--strategy", "margin", "--journal", tmp_path / "a.journal")
    _, first, refusal = talk({"example": {"text": "a"}}, {"estimate": "error"}, options=options)
    assert first["probability"] == 1.0
    assert "the strategy 'margin' leaves nothing to chance" in refusal["error"]
    said = refused(*BASIC, "--rate", 0.5, "--journal", tmp_path / "a.journal", stdin=b"")
    assert "was started with the strategy 'margin' and cannot continue with 'iwal'" in said
    _, *replies = talk(*[{"example": {"text": "a"}}] * 20, options=("--rate", 0.5, "--strategy", "random"))
    assert {reply["probability"] for reply in replies} == {0.5}
    said = run(*BASIC, "--rate", 0.5, "--strategy", "margins", code=2).stderr
    assert "did you mean 'margin'" in said


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("nonsense", "Expecting value"),
        ([1], "a line is an object"),
        ({"id": 0}, "this is none of an example, a label"),
        ({"id": 0, "label": "eggs"}, "the label 'eggs' is neither ham nor spam"),
        ({"id": 5, "label": "ham"}, "there is no question 5"),
        ({"label": "ham"}, "the id of the question is missing"),
        ({"id": True, "skip": True}, "or is no whole number: True"),
        ({"undo": True}, "there is nothing to undo"),
        ({"estimate": "erro"}, "no measure 'erro'; did you mean 'error'"),
        ({"estimate": "loss"}, 'give "largest", and larger'),
        ({"estimate": "error", "level": "high"}, "'level' is 'high': it must be a number"),
        ({"estimate": "loss", "largest": True}, "'largest' is True: it must be a number"),
        ({"example": "text"}, "an object of names and values, not 'text'"),
        ({"example": {"a": [1]}}, "'a' is [1]: a value is a number, a text"),
    ],
)
def test_what_makes_no_sense_is_said_and_changes_nothing(line: Any, error: str) -> None:
    _, said, status = talk(line, {"status": True})
    assert error in said["error"]
    assert status["seen"] == 0


@pytest.mark.parametrize("classes", ["ham", "ham,ham", "a,b,c,a", "a,"])
def test_classes_have_names(classes: str) -> None:
    assert "two or more different names, as in ham,spam" in refused(
        "active", "ask", "--classes", classes, "--rate", 0.5
    )


def test_the_positive_class_is_as_named_in_python_and_here() -> None:
    """Both on the same rows, with `other, grain`: the same recall, of what the user calls grain."""
    values = [1.0 if number % 5 else -1.0 for number in range(60)]
    names = ["other" if value > 0.0 or number < 30 else "grain" for number, value in enumerate(values)]
    found = {}
    for classes, positive in ((("other", "grain"), None), (("grain", "other"), "grain")):
        lines: list[Any] = []
        for number, (value, name) in enumerate(zip(values, names, strict=True)):
            lines += [{"example": {"x": value}}, {"id": number, "label": name}]
        given = ("--positive", positive) if positive else ()
        text = "\n".join(map(json.dumps, [*lines, RECALL]))
        said = run("active", "ask", "--classes", ",".join(classes), *given, "--rate", 1, "--bits", 4,
                   "--strategy", "random", stdin=text.encode())  # fmt: skip
        here = json.loads(said.stdout.splitlines()[-1])
        python = ActiveClassifier(classes=classes, positive=positive, rate=1.0, strategy="random")
        for value, name in zip(values, names, strict=True):
            (question,) = python.ask([[value]])
            python.answer(question.id, name)
        there = python.estimate("recall", of="progressive")
        assert str(there).startswith("progressive recall of 'grain': 0.")
        assert here["positive"] == there.positive == python.positive_ == "grain"
        assert here["value"] == pytest.approx(there.value)
        assert here["high"] == pytest.approx(there.high)
        found[classes] = there.value
    taken = python.history_.prediction > 0.0  # of other, the second in the order of the alphabet
    grain = np.array(names) == "grain"
    assert found["grain", "other"] == pytest.approx(np.mean(~taken[grain]))
    assert found["other", "grain"] == pytest.approx(found["grain", "other"], abs=0.2)
    assert python.estimate("recall", of="progressive").value != np.mean(taken[~grain])


def test_the_positive_class_is_kept_in_the_journal(tmp_path: Path) -> None:
    journal = ("--rate", 0.5, "--journal", tmp_path / "a.journal")
    talk({"example": {"a": 1}}, options=(*journal, "--positive", "ham"))
    assert "was started with another positive" in refused(*BASIC, *journal, stdin=b"")
    assert "is neither ham nor spam" in refused(*BASIC, "--positive", "eggs", "--rate", 1, stdin=b"")


def test_classes_that_are_numbers_are_numbers_in_replies() -> None:
    said = run("active", "ask", "--classes", "0,1", "--rate", 1, "--bits", 4,
               stdin=b'{"example": {"a": 1}}\n{"id": 0, "label": 1}\n{"estimate": "recall"}\n')  # fmt: skip
    _, first, _, recall = map(json.loads, said.stdout.splitlines())
    assert (first["class"], recall["positive"]) == (0, 1)


def test_a_plan_is_needed() -> None:
    assert refused(*BASIC, stdin=b"").startswith("say how much to ask")


def test_the_group_lists_its_commands() -> None:
    assert "Ask for labels of a stream" in run("active", "--help").stdout
    assert "No such command 'ask_me'" in run("active", "ask_me", code=2).stderr


def test_objects_become_rows() -> None:
    row = jsonl_reader.hash_object({"text": "a b a", "n": -2, "no": False}, 18)
    assert isinstance(row, Examples)
    assert sorted(row.values.tolist()) == [-2.0, 1.0, 2.0]
    assert row.features == 1 << 18
    assert (
        jsonl_reader.hash_object({"x": 1, "y": 2}, 1).values.sum() == 3.0
    )  # where they share a place, their sum
    for value in (float("nan"), 1e18, {"a": 1}):
        with pytest.raises(InputError, match="a value is a number"):
            jsonl_reader.hash_object({"a": value}, 18)


def test_the_client_in_the_docs_runs(capfd: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(CLIENT), run_name="__main__")
    printed = capfd.readouterr().out
    assert printed.endswith("is spam\n")
    page = (CLIENT.parent.parent / "active.md").read_text(encoding="utf-8")
    assert CLIENT.read_text(encoding="utf-8").rstrip() in page
    assert f"```\n{printed}```" in page


def test_every_reply_comes_at_once() -> None:
    """It must not sit in a buffer while the other side waits for it."""
    command = [
        sys.executable,
        "-c",
        "from steelyard.cli import main; main()",
        *map(str, BASIC),
        "--rate",
        "1",
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin
        assert process.stdout
        assert json.loads(process.stdout.readline())["seen"] == 0
        process.stdin.write('{"example": {"a": 1}}\n')
        assert json.loads(process.stdout.readline())["ask"]
        process.stdin.close()
