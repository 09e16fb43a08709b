"""Texts that break tables come back as they were, through every writer of the package."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard
from steelyard import model_file
from steelyard.filtering import filter_files
from steelyard.io import formats
from steelyard.io.csv_text import csv_line, csv_records
from steelyard.io.formats import TableOverrides
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.labelling import corpus, exchange, export
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import ProjectSettings
from steelyard.scoring.records import records_of
from tests.cli.running import run

TEXTS = [
    "plain", "two\nlines", "carriage\rreturn", "both\r\nof them", "\n", "\r", "a\ttab", "\t", "a,comma", ",",
    'a "quote"', '"', '""', '"quoted"', "a;semi|colon", " blanks ", " ", "", "=1+1", "+1", "@sum", "\\",
    "separator\u2028here", "\u2029", "next\x85line", "form\x0cfeed", "vertical\x0btab", "nul\0inside", "{}",
    "emoji 😀", "accent é", "combining e\u0301", "'", "\\n", "\x1b[31m", "#N/A?", "1.5 eggs", "x" * 20_000,
    "<b>", "\ufeffmark",
]  # fmt: skip
LONG = "word " * 40_000
JSON_LINES = (".jsonl", ".ndjson")
"""Records of the same format are copied as they are."""
SURROGATE = "half \ud800 of a pair"
SUFFIXES = sorted(
    suffix for each in formats._formats() if each.table for suffix in each.suffixes if suffix != ".xlsm"
)


def in_excel(text: str) -> str:
    """What a sheet can hold of a text: no control characters, and one kind of line end."""
    kept = "".join(letter for letter in text if letter >= " " or letter in "\t\r\n")
    return kept.replace("\r\n", "\n").replace("\r", "\n")


def opened(path: Path) -> Any:
    return (
        gzip.open(path, "rt", encoding="utf-8", newline="")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8", newline="")
    )


def by_others(path: Path, column: str) -> list[Any]:
    """The cells of a column as another program reads them."""
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        with opened(path) as file:
            csv.field_size_limit(1 << 30)
            found = csv.DictReader(file, delimiter="\t" if name.endswith(".tsv") else ",", strict=True)
            return [row[column] for row in found]
    if name.endswith((".xlsx", ".xls")):
        import openpyxl

        rows = list(openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True))
        return ["" if row[rows[0].index(column)] is None else row[rows[0].index(column)] for row in rows[1:]]
    if name.endswith((".parquet", ".pq")):
        import pyarrow.parquet

        return list(pyarrow.parquet.read_table(path).column(column).to_pylist())
    if name.endswith((".arrow", ".feather", ".ipc")):
        import pyarrow.ipc

        return list(pyarrow.ipc.open_file(path).read_all().column(column).to_pylist())
    with opened(path) as file:
        return [json.loads(line)[column] for line in file.read().split("\n") if line]


def by_us(path: Path, column: str) -> list[Any]:
    """The same as our readers take it."""
    with formats.open_head(str(path)) as head:
        found = formats.identify_all([str(path)], head)
        spec = found.complete(InputSpec(found.name, 10), head, TableOverrides())
    records = records_of(spec, str(path))
    rows = [
        row for parsed in Stream([str(path)], spec.reader(), loss=None) for row in records.rows(parsed.block)
    ]
    return [row[records.names.index(column)] for row in rows]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {"label": label, "text": text} for label, text in (("good\nnews", "plain"), ('"bad,', "tab")) * 20
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("train", folder / "rows.jsonl", "--bits", 10, "-o", folder / "a.model")
    return folder / "a.model"


def source(folder: Path, texts: list[str], suffix: str = ".jsonl") -> Path:
    path = folder / f"source{suffix}"
    rows = [{"number": number, "text": text} for number, text in enumerate(texts)]
    if suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    separator = "\t" if suffix == ".tsv" else ","
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(
            "".join(csv_line(row, separator) + "\n" for row in (rows[0], *(row.values() for row in rows)))
        )
    return path


def predicted(folder: Path, model: Path, texts: list[str], suffix: str) -> Path:
    out = folder / f"out{suffix}"
    run("predict", model, source(folder, texts), "-o", out)
    return out


def exported(folder: Path, model: Path, texts: list[str], suffix: str) -> Path:
    out = folder / f"labels{suffix}"
    with Project(folder / "a.journal") as project:
        given = corpus.read(str(source(folder, texts)), classes=("no", "yes"))
        project.begin(given, ProjectSettings(("no", "yes"), "yes"))
        export.write(project, LearnerFeed(project, project.classifier()), out)
    return out


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv.gz", ".tsv.gz"])
@pytest.mark.parametrize("write", [predicted, exported])
def test_tables_come_back(
    write: Callable[[Path, Path, list[str], str], Path], suffix: str, model: Path, tmp_path: Path
) -> None:
    out = write(tmp_path, model, TEXTS, suffix)
    wanted = [in_excel(text) for text in TEXTS] if suffix == ".xlsx" else TEXTS
    assert by_others(out, "text") == wanted
    found = by_us(out, "text")
    assert found == wanted


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("write", [predicted, exported])
def test_long_texts_and_halves_of_pairs(
    write: Callable[[Path, Path, list[str], str], Path], suffix: str, model: Path, tmp_path: Path
) -> None:
    half = SURROGATE if write is predicted and suffix in JSON_LINES else SURROGATE.replace("\ud800", "\ufffd")
    if suffix == ".xlsx":
        with pytest.raises(AssertionError if write is predicted else ValueError, match="32,767 characters"):
            write(tmp_path, model, ["plain", LONG], suffix)
        (tmp_path / "other").mkdir()
        out = write(tmp_path / "other", model, ["plain", SURROGATE], suffix)
        assert by_others(out, "text") == ["plain", half]
        return
    assert by_others(write(tmp_path, model, ["plain", LONG, SURROGATE], suffix), "text") == [
        "plain",
        LONG,
        half,
    ]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_names_of_classes_come_back(suffix: str, model: Path, tmp_path: Path) -> None:
    found = by_others(predicted(tmp_path, model, TEXTS, suffix), "prediction")
    assert {*found} <= {"good\nnews", '"bad,'}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_filters_and_their_samples(suffix: str, model: Path, tmp_path: Path) -> None:
    given = source(tmp_path, [*TEXTS, LONG], suffix)
    kept = tmp_path / "kept"
    filter_files(model, given, kept, keep="p >= 0", audit_size=2 * len(TEXTS) + 2)
    assert by_others(kept / given.name, "text") == [*TEXTS, LONG]
    sample = by_others(kept / "_steelyard" / "audit.csv", "document")
    assert sorted(sample) == sorted([*TEXTS, LONG])
    filter_files(model, given, kept, keep="p >= 0", audit_size=2 * len(TEXTS) + 2)  # reads the sample


def _tasks(kind: str, texts: list[str]) -> str:
    if kind == "ris":
        return "".join(f"TY  - JOUR\nTI  - {text}\nER  - \n" for text in texts)
    if kind == "prodigy":
        return "".join(json.dumps({"text": text, "_task_hash": 1}) + "\n" for text in texts)
    return json.dumps([{"data": {"text": text}} for text in texts])


@pytest.mark.parametrize("kind", exchange.TOOLS)
def test_files_of_other_tools_come_back(kind: str, tmp_path: Path) -> None:
    texts = [*dict.fromkeys(text for text in [*TEXTS, LONG.strip(), SURROGATE] if text.strip())]
    if kind == "ris":  # a value is a line
        texts = [text.strip() for text in texts if not {"\r", "\n", "\ud800"} & {*text}]
    path, out = tmp_path / "given", tmp_path / "out"
    path.write_text(_tasks(kind, texts), encoding="utf-8", newline="")
    with Project(tmp_path / "a.journal") as project:
        given = corpus.read(str(path), classes=("no", "yes"), kind=kind)
        project.begin(given, ProjectSettings(("no", "yes"), "yes"))
        export.write(project, LearnerFeed(project, project.classifier()), out, kind)
    again = corpus.read(str(out), classes=("no", "yes"), kind=kind)
    wanted = [text.replace("\ud800", "\ufffd") for text in texts]
    assert [each.fields["title" if kind == "ris" else "text"] for each in again.documents] == wanted


def test_converting_changes_nothing(tmp_path: Path) -> None:
    rows = [{"label": number % 2, "text": text} for number, text in enumerate([*TEXTS, SURROGATE])]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("convert", path, "--bits", 10, "-o", tmp_path / "rows.arrow")
    for name in ("rows.jsonl", "rows.arrow"):
        run("train", tmp_path / name, "--bits", 10, "-o", tmp_path / f"{name}.model")
    files = (tmp_path / f"{name}.model" for name in ("rows.jsonl", "rows.arrow"))
    one, other = (model_file.load(file).engine.models[0].coefficients() for file in files)
    np.testing.assert_array_equal(one, other)


def test_lines_and_records() -> None:
    for separator in ",\t;|":
        text = "".join(
            csv_line([one, other, None, 1.5], separator) + "\r\n" for one in TEXTS for other in TEXTS
        )
        read = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        assert [*read] == [[one, other, "", "1.5"] for one in TEXTS for other in TEXTS]
    assert csv_line([""]) == '""'
    assert [*csv_records(io.StringIO(f"a\n{LONG}\n"))] == [["a"], [LONG]]


def test_one_module_writes_and_reads_csv() -> None:
    """Python's own writer may leave line breaks without quotes, and its reader ends at long cells."""
    package = Path(steelyard.__file__).parent
    users = [path for path in package.rglob("*.py") if "\nimport csv\n" in path.read_text()]
    assert [path.relative_to(package).as_posix() for path in users] == ["io/csv_text.py"]
