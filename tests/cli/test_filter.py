"""`steelyard filter` and `steelyard audit`, as they are typed."""

import gzip
import json
from pathlib import Path

import pytest

from steelyard.cli.commands import filter as command
from tests.cli.running import refused, run
from tests.filtering.corpus import corpus, models, read, rows, write_jsonl
from tests.filtering.test_audit import label

__all__ = ["corpus", "models"]


def test_filter_and_audit(models: Path, corpus: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    given = ("filter", models / "quality.model", corpus, "-o", kept, "--keep", "p>=0.5", "--audit", 20)
    lines = run(*given).stdout.splitlines()
    assert lines[0].split() == ["files", "3"]
    assert lines[1].split() == ["rows", "450"]
    assert lines[2].startswith("kept ")
    assert lines[3].split(maxsplit=2) == ["quality_p", "is", "the probability of 'good'"]
    assert lines[4].startswith("to label ")
    assert "3, 3 of them already done" in run(*given).stdout
    label(kept)
    precision, recall = run("audit", kept).stdout.splitlines()[1:]
    assert precision.startswith("precision ")
    assert recall.startswith("recall ")
    assert "valid at any stopping time" in recall
    found = json.loads(run("audit", kept, "--json").stdout)
    assert found["labelled"] == {"kept": 10, "rejected": 10}
    assert found["recall"]["low"] <= found["recall"]["high"]


def test_without_rejects_there_is_no_recall(models: Path, corpus: Path, tmp_path: Path) -> None:
    run("filter", models / "quality.model", corpus, "-o", tmp_path / "kept", "--audit", 4)
    label(tmp_path / "kept")
    assert "recall" not in run("audit", tmp_path / "kept").stdout


def test_several_models_and_json(models: Path, corpus: Path, tmp_path: Path) -> None:
    both = models / "language.model", models / "quality.model"
    result = run(
        "filter", *both, corpus / "a.jsonl.gz", corpus / "b.jsonl", "-o", tmp_path / "kept", "--json",
        "--fraction", 0.1, "--by", "quality_p[good]", "--rejects", tmp_path / "no",
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert found["rows"] == 300
    assert found["threshold"]["score"] == "quality_p[good]"
    assert found["audit"] is None
    assert len(read(tmp_path / "no/b.jsonl")) > 100


def test_classes_are_counted(models: Path, corpus: Path, tmp_path: Path) -> None:
    shown = run(
        "filter", models / "language.model", corpus, "-o", tmp_path / "kept", "--fraction", 0.5, "--by", "p"
    ).stdout
    assert "threshold" in shown
    assert "language_label  rows  kept" in shown


def test_lines_that_cannot_be_read(models: Path, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", rows(3, 0))
    path.write_text(path.read_text() + "x\n")
    given = ("filter", models / "quality.model", path, "-o", tmp_path / "kept")
    assert "x.jsonl, line 4" in refused(*given)
    result = run("filter", models / "quality.model", path, "-o", tmp_path / "other", "--on-error", "skip")
    assert "skipped: " in result.stderr
    assert "unreadable             1" in result.stdout


def test_files_without_rows(models: Path, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [])
    assert run("filter", models / "quality.model", path, "-o", tmp_path / "kept").stdout.splitlines()[
        2
    ].split() == [
        "kept",
        "0",
    ]


def test_models_come_first(models: Path, corpus: Path, tmp_path: Path) -> None:
    assert "models come first" in run("filter", corpus, "-o", tmp_path / "kept", code=2).stderr
    assert "name the files" in run("filter", models / "quality.model", "-o", tmp_path / "kept", code=2).stderr


def test_on_a_terminal_one_line_shows_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with command._bar() as progress:
        assert progress is not None
        progress("x.jsonl", 5 << 20, 12_345)
    assert "12,345 rows; x.jsonl, 5 MB" in capsys.readouterr().err


def test_files_that_cannot_be_read_are_named_at_the_end(models: Path, corpus: Path, tmp_path: Path) -> None:
    write_jsonl(corpus / "0.jsonl.gz", rows(300, 5))
    (corpus / "0.jsonl.gz").write_bytes((corpus / "0.jsonl.gz").read_bytes()[:-40])
    given = ("filter", models / "quality.model", corpus, "-o", tmp_path / "kept", "--on-error", "skip")
    result = run(*given, code=1)
    assert result.stdout.splitlines()[1].split() == ["unreadable", "files", "1"]
    assert "skipped: " in result.stderr
    assert "0.jsonl.gz: cannot be read to its end" in result.stderr
    assert len(json.loads(run(*given, "--json", code=1).stdout)["failed"]) == 1


def test_debris_of_a_damaged_file_is_not_told_line_by_line(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the file is damaged shows at its end only; what was wrong in it before is no news then."""
    monkeypatch.setattr("steelyard.filtering.inputs.BLOCK", 1 << 12)
    text = "".join(json.dumps(each) + "\n" for each in rows(3000, 5)).encode()
    damaged = bytearray(gzip.compress(text, 0))  # stored as it is
    for place in range(2000, 40_000, 500):
        damaged[place] = 0
    (tmp_path / "a.jsonl.gz").write_bytes(damaged)
    (tmp_path / "b.jsonl").write_text('{"text": "proof"}\nno JSON\n')
    model, files = models / "quality.model", [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"]
    given = ("filter", model, *files, "-o", tmp_path / "kept", "--threads", 1, "--on-error", "skip")
    told = run(*given, code=1).stderr.splitlines()
    assert len(told) == 2
    assert "b.jsonl, line 2" in told[0]
    assert "a.jsonl.gz: cannot be read to its end" in told[1]


def test_documents_without_text_are_counted(models: Path, tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "x.jsonl",
        [{"id": 1, "text": "clear proof"}, {"id": 2, "text": ""}, {"id": 3, "text": None}],
    )
    lines = run(
        "filter", models / "quality.model", models / "language.model", path, "-o", tmp_path / "kept"
    ).stdout
    assert "without text           2, all with the same score" in lines
