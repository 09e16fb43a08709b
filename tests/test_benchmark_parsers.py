"""The scripts that compare readers of files, and `filter`, with others. No figure is judged here."""

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.quality import counts
from benchmarks.speed import filtering, parsers, parsers_exact, threads
from benchmarks.support.timing import WALL, Times
from steelyard.examples import examples


@pytest.mark.soak
def test_page_on_parsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = "".join(f"{k}, {'red' if k % 3 else '?'}, {'yes' if k % 2 else 'no'}\n" for k in range(1, 40))
    (tmp_path / "cells.gz").write_bytes(gzip.compress(cells.encode()))
    texts = "".join(f'{k % 2}\tword {k}, "quoted"\n' for k in range(40))
    (tmp_path / "texts.xz").write_bytes(lzma.compress(b"label\ttext\n" + texts.encode()))
    files = (
        parsers.RealFile("cells.csv", "cells.gz", "3"),
        parsers.RealFile("texts.tsv", "texts.xz", "label", as_json=True),
    )

    def measure(paths: list[Path], threads: int, repeats: int) -> dict[str, Times]:
        return {path.name: parsers.time_file(path, threads, repeats) for path in paths}

    monkeypatch.setattr(parsers, "FILES", files)
    monkeypatch.setattr(parsers, "measure", measure)
    page = tmp_path / "page.md"
    arguments = ["--data", str(tmp_path), "--repeats", "1", "--megabytes", "0.01", "--numbers", "50"]
    CliRunner().invoke(parsers.main, [*arguments, "--output", str(page)], catch_exceptions=False)
    text = page.read_text()
    for name in ("cells.csv", "texts.tsv", "texts.jsonl", "texts.csv"):
        rows = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
        assert len(rows) == len(parsers.THREADS)
        assert not any("rows, not" in row or "other" in row or "refuses" in row for row in rows)
    assert text.count("how many are wrong (ours: 0)") == 2


def test_parsers_are_timed_in_a_process_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "texts.xz").write_bytes(lzma.compress(b"label\ttext\n1\tone\n0\ttwo words\n"))
    file = parsers.RealFile("texts.tsv", "texts.xz", "label")
    paths = parsers.prepare([file], tmp_path, tmp_path, 0.0)
    times = parsers.measure(paths, threads=1, repeats=1)["texts.tsv"]
    assert {parsers.OURS, parsers.OURS + WALL, parsers.COLUMNS_ONLY} <= set(times)


def test_differences_between_parsers_are_told() -> None:
    rows = parsers_exact.join([])
    assert parsers_exact.difference(rows, rows) == parsers_exact.SAME
    one = examples(np.array([[1.0]]), [1.0])
    assert parsers_exact.difference(one, rows) == "0 rows, not 1"
    for what, other in (
        ("labels", examples(np.array([[1.0]]), [-1.0])),
        ("weights", examples(np.array([[1.0]]), [1.0], [2.0])),
        ("features", examples(np.array([[1.0, 2.0]]), [1.0])),
        ("values", examples(np.array([[np.nextafter(1.0, 2.0)]]), [1.0])),
    ):
        assert parsers_exact.difference(one, other) == f"other {what}"


def test_pyarrow_reads_numbers_alike_and_damaged_quotes_otherwise(tmp_path: Path) -> None:
    outcomes = {probe.what: parsers_exact.outcomes(probe, tmp_path) for probe in parsers_exact.CSV_PROBES}
    assert outcomes["a newline within quotes"]["pyarrow, in batches"] == parsers_exact.SAME
    assert outcomes["text after a closing quote (a bad line)"]["pyarrow, in batches"] == "3 rows, not 2"
    assert set(parsers_exact.wrong_numbers(parsers_exact.CSV, tmp_path, 100).values()) == {"0"}


def test_threads(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    arguments = ["--rows", "50", "--repeats", "1", "--page", str(page)]
    assert CliRunner().invoke(threads.main, arguments, catch_exceptions=False).exit_code == 0
    assert page.read_text().count(" MB/s |") == 3


def test_grouped_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"{k},{'ab'[k % 2]},{k % 2 * k % 3}\n" for k in range(60))
    (tmp_path / "tiny.csv.gz").write_bytes(gzip.compress(f"id,item,click\n{rows}".encode()))
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    monkeypatch.setattr(counts, "SETS", {"tiny": (("tiny.csv.gz",), (1,), 2, "1")})
    page = tmp_path / "page.md"
    arguments = ["--orders", "1", "--page", str(page)]
    assert CliRunner().invoke(counts.main, arguments, catch_exceptions=False).exit_code == 0
    assert "| tiny | 48 | 2 | 48 |" in page.read_text(), "so few are learned one by one"


def test_filtering_beside_fasttext(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fastText, which need not be installed."""
    lines = "".join(f"{k % 2}\tx\t{'cheap pills' if k % 2 else 'a proof'} {k}\n" for k in range(60))
    (tmp_path / "tiny.tsv.xz").write_bytes(lzma.compress(f"label\tdate\ttext\n{lines}".encode()))
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    monkeypatch.setattr(filtering, "SETS", {"tiny": ("tiny.tsv.xz", 0, 2)})
    monkeypatch.setattr(filtering, "find_spec", lambda _: None)
    (row,) = filtering.measure("tiny", 1, 1, 1)
    assert row[:2] == ["tiny, 1", "steelyard"]
    assert row[4] == "100.00%"
