"""Which rows are the best, and which files are documents: neither is guessed."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from steelyard.filtering import filter_files
from steelyard.filtering.run_folder import read_json, write_json
from steelyard.io.errors import InputError
from tests.cli.running import refused, run
from tests.filtering.corpus import content, read, rows, write_jsonl


@pytest.mark.parametrize("by", [None, "p", "raw", "quality_p", "quality_raw"])
def test_the_class_is_never_guessed(models: Path, corpus: Path, tmp_path: Path, by: str | None) -> None:
    """Of the classes fine and toxic, it kept the toxic ones: those of the second class."""
    with pytest.raises(InputError, match=r"There are p\[bad\], p\[good\] \(by='p\[bad\]'\)"):
        filter_files(models / "quality.model", corpus, tmp_path / "kept", fraction=0.05, by=by)
    assert not (tmp_path / "kept").exists()


def test_the_error_shows_what_to_type(models: Path, corpus: Path, tmp_path: Path) -> None:
    given = (
        "filter",
        models / "quality.model",
        corpus,
        "-o",
        tmp_path / "to keep",
        "--fraction",
        0.1,
        "--by",
        "p",
    )
    first, *commands = refused(*given, "--on-error", "skip").splitlines()
    assert first == "which rows are the best? Type one of these:"
    assert [shlex.split(command)[-2:] for command in commands] == [["--by", "p[bad]"], ["--by", "p[good]"]]
    program, *words = shlex.split(commands[1])
    assert program == "steelyard"
    assert words.count("--by") == words.count("skip") == 1
    said = run(*words).stderr
    assert said.startswith("keeping 0.1 of the rows, those with the highest p[good]\n")
    assert {row["quality"] for row in read(tmp_path / "to keep/b.jsonl")} == {"good"}


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("classes", [2, 3])
def test_each_class_can_be_ranked_by(tmp_path: Path, loss: str, classes: int) -> None:
    names = "abc"[:classes]
    documents: list[dict[str, Any]] = [
        {"label": names[k % classes], "text": f"w{k % classes}"} for k in range(60)
    ]
    table = write_jsonl(tmp_path / "in/x.jsonl", documents)
    run("train", table, "--loss", loss, "--no-calibrate", "--bits", 8, "-o", tmp_path / "m.model")
    with pytest.raises(InputError, match="by which score") as caught:
        filter_files(tmp_path / "m.model", table, tmp_path / "out", fraction=1 / classes)
    for name in names:
        by = f"{'p' if loss == 'logistic' else 'raw'}[{name}]"
        assert by in str(caught.value)
        filter_files(tmp_path / "m.model", table, tmp_path / name, fraction=1 / classes, by=by)
        assert {row["label"] for row in read(tmp_path / name / "x.jsonl")} == {name}


def test_numbers_have_one_score(tmp_path: Path) -> None:
    documents = [{"label": k / 7, "x": k / 3 + 0.1} for k in range(50)]
    table = write_jsonl(tmp_path / "x.jsonl", documents)
    run("train", table, "-o", tmp_path / "m.model")
    filter_files(tmp_path / "m.model", table, tmp_path / "out", fraction=0.2)
    assert np.mean([row["x"] for row in read(tmp_path / "out/x.jsonl")]) > 12


def test_runs_that_guessed_the_class_go_on(models: Path, corpus: Path, tmp_path: Path) -> None:
    """They are folders of former versions, which have a threshold, and no class."""
    model, kept = models / "quality.model", tmp_path / "kept"
    filter_files(model, corpus, kept, fraction=0.2, by="p[good]")
    before = {name: text for name, text in content(kept).items() if not name.startswith("_")}
    settings = read_json(kept / "_steelyard/settings.json")
    assert settings is not None
    settings["by"], settings["threshold"]["score"] = None, "p"
    write_json(kept / "_steelyard/settings.json", settings)
    (kept / "b.jsonl").unlink()
    filter_files(model, corpus, kept, fraction=0.2)
    assert {name: text for name, text in content(kept).items() if not name.startswith("_")} == before


def test_the_class_of_a_probability_is_told_before_the_run(
    models: Path, corpus: Path, tmp_path: Path
) -> None:
    told: list[str] = []

    def progress(*_: object) -> None:
        assert told == ["quality_p is the probability of 'good'"]

    filter_files(
        models / "quality.model",
        corpus,
        tmp_path / "kept",
        keep="p > 0.5",
        tell=told.append,
        progress=progress,
    )


@pytest.fixture
def mixed(corpus: Path) -> Path:
    """The corpus with files beside its documents, and one document without a suffix."""
    (corpus / "README.md").write_text("# The corpus\n\nIt has texts, labels and more.\n")
    (corpus / "LICENSE").write_text("All rights reserved.\n")
    (corpus / "deeper/page.html").write_text("<html>\n<p>text</p>\n</html>\n")
    (corpus / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (corpus / "sums.sha256").write_text("0123  a.jsonl.gz\n4567  b.jsonl\n")
    (corpus / "about.json").write_text(json.dumps({"name": "corpus", "parts": [1, 2]}, indent=2))
    write_jsonl(corpus / "part-00000", rows(10, 9))
    return corpus


def test_files_that_are_no_documents_are_left_out(models: Path, mixed: Path, tmp_path: Path) -> None:
    """A README.md in the folder stopped the run."""
    result = run(
        "filter", models / "quality.model", mixed, "-o", tmp_path / "kept", "--keep", "p[good] > 0.5"
    )
    left = f"6 files, such as {mixed / 'LICENSE'}"
    assert result.stderr.startswith(f"left out, as no documents: {left}\n")
    assert f"6 files without documents, such as {mixed / 'LICENSE'}" in result.stdout
    outputs = {name for name in content(tmp_path / "kept") if not name.startswith("_")}
    assert outputs == {"a.jsonl.gz", "b.jsonl", "deeper/c.jsonl.gz", "part-00000"}
    best = filter_files(models / "quality.model", mixed, tmp_path / "best", fraction=0.2, by="p[good]")
    assert len(best.left_out) == 6


def test_files_that_are_named_are_not_left_out(models: Path, mixed: Path, tmp_path: Path) -> None:
    named = mixed / "README.md"
    for files in ([named], [mixed, named], [named, mixed], [mixed / "*.md"]):
        with pytest.raises(InputError, match=r"README\.md"):
            filter_files(models / "quality.model", files, tmp_path / "kept")


def test_documents_that_cannot_be_read_are_not_left_out(models: Path, corpus: Path, tmp_path: Path) -> None:
    write_jsonl(corpus / "d.jsonl", [{"content": "no text"}])
    with pytest.raises(InputError, match=r"d\.jsonl"):
        filter_files(models / "quality.model", corpus, tmp_path / "kept")


def test_a_folder_without_documents(models: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/README.md").write_text("# Nothing\n")
    with pytest.raises(InputError, match=r"README\.md"):
        filter_files(models / "quality.model", tmp_path / "in", tmp_path / "kept")


def test_many_rows_of_a_table_that_cannot_be_read(tmp_path: Path) -> None:
    """More than are described: which rows they are is known all the same, without looking for them."""
    table, bad = (
        write_jsonl(tmp_path / "x.jsonl", [{"label": "ab"[k % 2], "x": k % 2} for k in range(40)]),
        150,
    )
    run("train", table, "--bits", 8, "-o", tmp_path / "m.model")
    numbers = [float("inf") if k % 2 else k / 7 for k in range(2 * bad)]
    parquet.write_table(pa.table({"x": numbers}), tmp_path / "x.parquet")
    result = filter_files(tmp_path / "m.model", tmp_path / "x.parquet", tmp_path / "out", skip_errors=True)
    assert result.statistics["unreadable"] == bad
    assert parquet.read_table(tmp_path / "out/x.parquet")["x"].to_pylist() == numbers[::2]


def test_a_score_to_go_by_needs_a_fraction(models: Path, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="by says what fraction goes by, and that is not given"):
        filter_files(models / "quality.model", corpus, tmp_path / "kept", by="p[good]")
    assert not (tmp_path / "kept").exists()
