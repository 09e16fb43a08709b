"""`steelyard active ask`: lines of JSON in and out."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.examples import Examples
from steelyard.io import jsonl_reader
from steelyard.io.errors import InputError
from tests.cli.running import refused, run

CLIENT = Path(__file__).parent.parent.parent / "docs/examples/active_client.py"
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


def test_a_journal_is_gone_on_from(tmp_path: Path) -> None:
    options = ("--budget", 20, "--expected", 100, "--journal", tmp_path / "a.journal")
    talk({"example": {"text": "a"}}, {"example": {"text": "b"}}, {"id": 0, "label": "ham"}, options=options)
    status, said = talk({"id": 1, "label": "spam"}, options=options)
    assert status["seen"] == 2
    assert status["open"] == [1]
    assert said == {"id": 1, "answered": True}
    assert "was started with another budget" in refused(
        *BASIC, "--budget", 30, "--expected", 100, "--journal", tmp_path / "a.journal", stdin=b""
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
        "rows": 0, "asked": 0, "skipped": 0, "answered": 0,
    }  # fmt: skip
    assert 0 < error["rows"] == error["answered"] < 30
    assert error["value"] < 0.1 < error["high"]
    assert (recall["level"], recall["rows"]) == (0.5, 60)
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
        ({"estimate": "loss"}, "give largest="),
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


@pytest.mark.parametrize("classes", ["ham", "ham,ham", "a,b,c", "a,"])
def test_two_classes_have_names(classes: str) -> None:
    assert "two different names, as in ham,spam" in refused(
        "active", "ask", "--classes", classes, "--rate", 0.5
    )


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
