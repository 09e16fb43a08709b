"""JSON rows that lack columns of the model: each way to predict says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard import AbsentColumnsWarning, OnlineClassifier
from steelyard.io.errors import InputError
from steelyard.scoring import absent_columns
from tests.cli.running import run


@pytest.fixture
def model(tmp_path: Path) -> Path:
    table = tmp_path / "rows.csv"
    table.write_text("age,job,y\n" + "31,a,yes\n42,b,no\n" * 9)
    run("train", table, "--bits", "12", "-o", tmp_path / "m.model")
    return tmp_path / "m.model"


WHOLE = '{"age": 31, "job": "a"}\n'
LACKING = WHOLE + '{"age": 45}\n{"age" : 45, "job" : "b"}\n{"foo": 45}\n' + WHOLE
SAID = "lacked columns of the model (job, age)"


def test_a_stream_answers_as_the_server_does(model: Path) -> None:
    result = run("predict", model, "-", "--stream", stdin=LACKING.encode())
    assert [bool(line) for line in result.stdout.split("\n")[:5]] == [True, True, True, False, True]
    assert "standard input, line 4: has none of the columns of the model: age, job" in result.stderr
    assert "1 row lacked columns of the model (job); an absent number counts as 0" in result.stderr


@pytest.mark.parametrize("options", [(), ("--output-format", "csv")])
def test_files_are_told_of_at_the_end(model: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(LACKING + "5\n")
    result = run("predict", model, rows, "--on-error", "skip", *options)
    assert f"2 rows {SAID}, 1 of them all; " in result.stderr
    rows.write_text(WHOLE)
    assert "lacked" not in run("predict", model, rows, *options).stderr


def test_only_the_first_rows_of_a_file_are_looked_at(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(absent_columns, "_LOOKED_AT", 3)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(LACKING)
    result = run("predict", model, rows, rows)
    assert "1 row of the first 3 lacked columns of the model (job); " in result.stderr


def test_the_first_line_decides_what_a_stream_is(model: Path) -> None:
    for text in (WHOLE + "oops\n" + WHOLE, '{"age": oops\noops\n' + WHOLE, "\n" + WHOLE):
        lines = text.splitlines()
        result = run("predict", model, "-", "--stream", stdin=text.encode())
        answers = result.stdout.split("\n")[: len(lines)]
        assert [bool(answer) for answer in answers] == [f"{line}\n" == WHOLE for line in lines]
    result = run("predict", model, "-", "--stream", stdin=b'{"age": 45}\n')
    assert result.stdout.strip()
    assert "1 row lacked" in result.stderr


def test_a_bad_line_makes_no_csv_of_a_pipe(model: Path) -> None:
    result = run("predict", model, "-", stdin=f"{WHOLE}oops\n".encode(), code=1)
    assert "standard input, line 2: 'oops': not a JSON object" in result.stderr


def test_every_command_refuses_a_file_without_the_text(tmp_path: Path) -> None:
    """Its rows would all have one prediction. The same words everywhere, with the option that helps."""
    lines = [{"label": ["yes", "no"][k % 2], "text": ["good", "bad"][k % 2]} for k in range(60)]
    learned, other = tmp_path / "learned.jsonl", tmp_path / "other.jsonl"
    learned.write_text("".join(json.dumps(each) + "\n" for each in lines))
    other.write_text(learned.read_text().replace('"text"', '"content"'))
    model, page = tmp_path / "m", tmp_path / "r.html"
    run("train", learned, "--bits", 10, "-o", model)
    said = f"{other}: there is no column 'text' (there are label, content); if another one has the text, use"
    commands: list[tuple[Any, ...]] = [
        ("predict", model, other),
        ("predict", model, learned, other),
        ("predict", model, other, "-o", tmp_path / "scored.csv"),
        ("evaluate", model, other),
        ("explain", model, other),
        ("report", model, other, "-o", page),
        ("filter", model, other, "-o", tmp_path / "kept"),
    ]
    for command in commands:
        assert said in run(*command, code=1).stderr
    for kind, text in (("csv", "label,content\nyes,good\n"), ("jsonl", '{"label": "yes"}\n')):
        table = tmp_path / f"table.{kind}"
        table.write_text(text)
        assert "there is no column 'text'" in run("predict", model, table, code=1).stderr
    assert run("predict", model, "-", stdin=b"").stdout == ""
    assert json.loads(run("evaluate", model, other, "--text", "content", "--json").stdout)["accuracy"] == 1.0
    assert run("report", model, other, "-o", page, "--force", "--text", "content").stderr == ""


def test_in_python(model: Path, tmp_path: Path) -> None:
    """Predictions of rows without the only text are all the same: nobody should have to notice that."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(LACKING)
    with pytest.warns(AbsentColumnsWarning, match=r"2 rows lacked columns of the model \(job, age\)") as told:
        OnlineClassifier.load(model).predict_files(rows)
    assert told[0].filename == __file__
    rows.write_text('{"label": "a", "text": "some words here"}\n{"label": "b", "text": "others"}\n' * 9)
    texts = OnlineClassifier().fit_files(rows, bits=8)
    rows.write_text('{"body": "some words here"}\n' * 3)
    with pytest.raises(InputError, match=r"column 'text' \(there are body\); .* the text, use text='NAME'$"):
        texts.predict_proba_files(rows)
    assert len(texts.predict_files(rows, text="body")) == 3
    rows.write_text('{"body": "some words here"}\n' * 3 + '{"text": "others"}\n')
    with pytest.warns(AbsentColumnsWarning, match=r"3 rows .* \(text\); rows without text all have the"):
        assert len(texts.predict_files(rows)) == 4


def test_a_model_of_no_text_needs_some_of_its_columns(model: Path, tmp_path: Path) -> None:
    """Learned from CSV it needs all of them, as they may have other names; from JSON, any."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"foo": 45}\n' * 3)
    assert f"{rows}: there is no column 'age' (there are foo)" in run("predict", model, rows, code=1).stderr
    learned = tmp_path / "learned.jsonl"
    learned.write_text('{"age": 31, "job": "a", "y": "yes"}\n{"age": 45, "job": "b", "y": "no"}\n' * 9)
    run("train", learned, "--bits", "12", "-o", model)
    said = run("predict", model, rows, code=1).stderr
    assert f"{rows}: there is no column 'age' (there are foo)" in said
    assert "--text" not in said
    rows.write_text('{"foo": 45}\n{"job": "b"}\n')
    said = run("predict", model, rows).stderr
    assert "2 rows lacked columns of the model (age, job), 1 of them all; an absent number" in said


def test_lines_of_a_pipe_are_answered_before_it_is_known(tmp_path: Path) -> None:
    """How many of them are there depends on the moment, and must not decide."""
    learned = tmp_path / "learned.jsonl"
    learned.write_text('{"y": "a", "text": "some words here"}\n{"y": "b", "text": "others"}\n' * 9)
    run("train", learned, "--bits", 8, "-o", tmp_path / "m")
    result = run("predict", tmp_path / "m", "-", stdin=b'{"body": "words"}\n' * 3)
    assert len(result.stdout.splitlines()) == 3
    assert "3 rows lacked columns of the model (text); if another one has the text, use" in result.stderr


def test_json_for_a_model_of_csv_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "learned.csv").write_text("y,text\n" + "a,some words here\nb,other ones\n" * 9)
    run("train", tmp_path / "learned.csv", "--bits", 8, "-o", tmp_path / "m")
    (tmp_path / "new.jsonl").write_text('{"body": "words"}\n')
    said = run("predict", tmp_path / "m", tmp_path / "new.jsonl", code=1).stderr
    assert "there is no column 'text' (there are body); if another one has the text, use --text NAME" in said
