"""Files whose text is in a column of another name than in training."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from steelyard import OnlineClassifier
from steelyard.filtering import TableScorer, filter_files
from steelyard.io.errors import InputError
from tests.cli.running import run
from tests.filtering.corpus import read, rows, write_jsonl


def renamed(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"id": each["id"], "content": each["text"]} for each in documents]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same documents under both names."""
    documents = rows(60, 5)
    write_jsonl(tmp_path / "as_learned.jsonl", documents)
    write_jsonl(tmp_path / "other.jsonl", renamed(documents))
    return {"as_learned": tmp_path / "as_learned.jsonl", "other": tmp_path / "other.jsonl"}


def test_scores_are_those_of_the_same_texts(models: Path, files: dict[str, Path], tmp_path: Path) -> None:
    paths = [models / "quality.model", models / "language.model"]
    filter_files(paths, files["as_learned"], tmp_path / "1")
    filter_files(paths, files["other"], tmp_path / "2", text="content")
    found, wanted = read(tmp_path / "2" / "other.jsonl"), read(tmp_path / "1" / "as_learned.jsonl")
    for name in ("quality_p", "language_label", "language_p"):
        assert [each[name] for each in found] == [each[name] for each in wanted]
    settings = json.loads((tmp_path / "2" / "_steelyard" / "settings.json").read_text())
    assert settings["text"] == "content"
    with pytest.raises(InputError, match="`text`: content, now not given"):
        filter_files(paths, files["other"], tmp_path / "2")


def test_tables_in_memory_and_parquet(models: Path, files: dict[str, Path], tmp_path: Path) -> None:
    table = pyarrow.Table.from_pylist(read(files["other"]))
    wanted = TableScorer(models / "quality.model")(pyarrow.Table.from_pylist(read(files["as_learned"])))
    found = TableScorer(models / "quality.model", text="content")(table)
    assert found["quality_p"].to_pylist() == wanted["quality_p"].to_pylist()
    with pytest.raises(
        InputError, match=r"no column 'text' \(there are id, content\); if another one has the"
    ):
        TableScorer(models / "quality.model")(table)
    pyarrow.parquet.write_table(table, tmp_path / "other.parquet")
    filter_files(models / "quality.model", tmp_path / "other.parquet", tmp_path / "out", text="content")
    again = pyarrow.parquet.read_table(tmp_path / "out" / "other.parquet")
    assert again["quality_p"].to_pylist() == wanted["quality_p"].to_pylist()


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_file_without_the_text_is_refused(kind: str, models: Path, tmp_path: Path) -> None:
    path = tmp_path / f"other.{kind}"
    documents = renamed(rows(20, 5))
    if kind == "jsonl":
        write_jsonl(path, documents)
    elif kind == "csv":
        path.write_text("id,content\n1,proof theorem\n2,buy now\n")
    else:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(documents), path)
    shown = run("filter", models / "quality.model", path, "-o", tmp_path / "out", code=1).stderr
    assert f"{path}: there is no column 'text' (there are id, content)" in shown
    assert "if another one has the text, use --text NAME" in shown


def test_a_column_that_is_something_else(models: Path, files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "label,title,text,age\n" + "yes,a few words,other words here,1\nno,words,few of them,2\n" * 30
    )
    two = tmp_path / "two.model"
    roles = ("--text", "title", "--text", "text", "--number", "age", "--bits", 8)
    run("train", tmp_path / "rows.csv", *roles, "-o", two)
    with pytest.raises(InputError, match=r"text='content': .*two.model takes 2 texts \(title, text\)"):
        filter_files(two, files["other"], tmp_path / "out", text="content")
    one = tmp_path / "one.model"
    run("train", tmp_path / "rows.csv", *roles[2:], "--ignore", "title", "-o", one)
    with pytest.raises(InputError, match=r"text='age': .*one.model takes this column for number"):
        filter_files(one, files["other"], tmp_path / "out", text="age")
    run("predict", one, tmp_path / "rows.csv", "--text", "label")  # which is then no label
    (tmp_path / "ageless.csv").write_text("text,title\nsome words,none\n")
    with pytest.raises(InputError, match=r"no column 'age' \(there are text, title\)$"):
        filter_files(one, tmp_path / "ageless.csv", tmp_path / "out")
    (tmp_path / "few.vw").write_text("1 | a b\n-1 | c\n" * 10)
    run("train", tmp_path / "few.vw", "-o", tmp_path / "vw.model")
    shown = run("predict", tmp_path / "vw.model", tmp_path / "few.vw", "--text", "a", code=1).stderr
    assert "was trained on vw, which has no columns" in shown


def test_predict_evaluate_and_explain(models: Path, files: dict[str, Path], tmp_path: Path) -> None:
    model = models / "quality.model"
    wanted = run("predict", model, files["as_learned"]).stdout
    assert run("predict", model, files["other"], "--text", "content").stdout == wanted
    assert run("predict", model, files["other"], "--text", "content", "--stream").stdout == wanted
    said = "if another one has the text, use --text NAME"
    assert said in run("predict", model, files["other"], code=1).stderr
    both = [each | {"content": each["text"], "text": ""} for each in rows(60, 5)]
    path = write_jsonl(tmp_path / "both.jsonl", both)
    judged = json.loads(run("evaluate", model, path, "--text", "content", "--json").stdout)
    assert (
        judged["accuracy"]
        == json.loads(run("evaluate", model, files["as_learned"], "--json").stdout)["accuracy"]
    )
    explained = run("explain", model, path, "--text", "content", "--rows", 1).stdout
    assert "text^" in explained


def test_converted_rows_know_their_original(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "rows.jsonl", rows(80, 2))
    options = ("--label", "quality", "--text", "text", "--ignore", "language", "--ignore", "id", "--bits", 12)
    run("convert", path, *options, "-o", tmp_path / "rows.arrow")
    run("train", tmp_path / "rows.arrow", "-o", tmp_path / "m.model")
    other = write_jsonl(tmp_path / "other.jsonl", renamed(rows(80, 2)))
    wanted = run("predict", tmp_path / "m.model", path).stdout
    assert run("predict", tmp_path / "m.model", other, "--text", "content").stdout == wanted


def test_interactions_keep_their_names(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "rows.jsonl", rows(80, 2))
    options = ("--label", "quality", "--text", "text", "--category", "language", "--ignore", "id")
    run("train", path, *options, "--interactions", "text*language", "--bits", 12, "-o", tmp_path / "m.model")
    other = [{"language": each["language"], "content": each["text"]} for each in rows(80, 2)]
    found = run(
        "predict", tmp_path / "m.model", write_jsonl(tmp_path / "o.jsonl", other), "--text", "content"
    )
    assert found.stdout == run("predict", tmp_path / "m.model", path).stdout


def test_lines_of_which_none_is_an_object(models: Path, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{no\n{object\n")
    found = filter_files(models / "quality.model", tmp_path / "x.jsonl", tmp_path / "out", skip_errors=True)
    assert found.statistics["unreadable"] == 2


def test_a_name_that_is_no_column_is_refused(models: Path, files: dict[str, Path]) -> None:
    """JSON lines without it would all have the same prediction."""
    model, said = models / "quality.model", "there is no column 'contend'; did you mean 'content'?"
    shown = run("predict", model, files["other"], "--text", "contend", code=1).stderr
    assert said in shown
    assert "use --text" not in shown  # which is what was done
    with pytest.raises(InputError, match=re.escape(said)):
        OnlineClassifier.load(model).predict_files(files["other"], text="contend")
    empty = files["other"].with_name("empty.jsonl")
    empty.write_text("")
    assert len(OnlineClassifier.load(model).predict_files(empty, text="contend")) == 0
