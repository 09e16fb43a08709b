"""Our readers of CSV, TSV and JSON lines beside pyarrow, polars and orjson: speed, and where they differ.

    python -m benchmarks.speed.parsers [--repeats 7] [--output docs/benchmarks.md]

From the first byte of a file to the last example: cells, numbers, categories and tokens of texts
hashed, nothing learned. All contenders run in turns on the same files, which are made of the public
data in the folder named by STEELYARD_DATA and repeated until they are long enough. Polars and
pyarrow fix their number of threads for the process, so there is a process for each number of threads.
"""

import csv
import gzip
import json
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
import pyarrow
from rich.console import Console

from benchmarks.speed import parsers_exact
from benchmarks.speed.parsers_exact import BITS
from benchmarks.speed.parsers_libraries import STREAMED, libraries, ours
from benchmarks.support import sections
from benchmarks.support.timing import WALL, Times, alternate, clocked, ratio
from steelyard.io import columns as roles
from steelyard.io import inference, input_spec
from steelyard.io.columns import ColumnOverrides
from steelyard.io.formats import TableOverrides
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule, classes, is_number, two_classes

THREADS = (1, 2)
OURS, COLUMNS_ONLY = "ours", "pyarrow, columns only"
ENOUGH = 1.5  # times faster: then a reader of our own is worth its code


@dataclass(frozen=True)
class RealFile:
    """A file of the data folder: the column with the label, and the two classes if they are no numbers."""

    name: str
    source: str
    label: str
    labels: tuple[str, str] | None = None
    as_json: bool = False
    """Whether it is also written as JSON lines."""


FILES = (
    RealFile("adult.csv", "adult.data.gz", "15", ("<=50K", ">50K"), as_json=True),
    RealFile("census.csv", "census-income.gz", "42", ("*", "50000+.")),
    RealFile("credit.csv", "credit-costs.csv.gz", "SeriousDlqin2yrs", as_json=True),
    RealFile("bandit.csv", "open-bandit/random_men.csv.gz", "click", as_json=True),
    RealFile("sms.tsv", "sms-spam.tsv.xz", "label"),
    RealFile("enron.tsv", "enron-spam.tsv.xz", "label", as_json=True),
    RealFile("reuters.tsv", "reuters21578-train.tsv.xz", "topics", ("*", "earn"), as_json=True),
    RealFile("newsgroups.tsv", "newsgroups.tsv.xz", "group"),
)


def prepare(files: Iterable[RealFile], data: Path, folder: Path, megabytes: float) -> list[Path]:
    """Write the files, each with how to read it in a file of its own beside it."""
    made = []
    for file in files:
        open_ = lzma.open if file.source.endswith(".xz") else gzip.open
        with open_(data / file.source) as source:
            text = source.read()
        path = folder / file.name
        path.write_bytes(text)
        told = TableOverrides(ColumnOverrides(label=file.label))
        spec, found = inference.infer([str(path)], told, bits=BITS)
        spec = _with_rule(spec, _rule(file, path, spec, found))
        assert spec.dialect is not None
        header, newline, rows = text.partition(b"\n") if spec.dialect.header else (b"", b"", text)
        times = max(1, round(megabytes * 1e6 / len(text)))
        path.write_bytes(header + newline + times * rows)
        made.append(_store(path, spec))
        if file.as_json:
            made.append(_json_version(path, spec, told))
        if spec.dialect.separator == "\t" and file.as_json:
            made.append(_quoted_version(path, spec))
    return made


def _rule(file: RealFile, path: Path, spec: InputSpec, found: list[str]) -> LabelRule | None:
    if file.labels is not None:
        return two_classes(*file.labels)
    if all(is_number(label) for label in found):
        return None
    return classes(inference.distinct_labels([str(path)], spec, 100))


def _with_rule(spec: InputSpec, rule: LabelRule | None, **other: Any) -> InputSpec:
    stored = spec.as_json() | {"label_rule": None if rule is None else rule.as_json()} | other
    return input_spec.from_json(stored)


def _store(path: Path, spec: InputSpec) -> Path:
    Path(f"{path}.spec").write_text(json.dumps(spec.as_json()))
    return path


def _records(path: Path, spec: InputSpec) -> Iterable[list[str]]:
    assert spec.dialect is not None
    csv.field_size_limit(1 << 30)
    separator = spec.dialect.separator
    with path.open(encoding="utf-8", newline="") as file:
        if spec.dialect.quoting:
            records = csv.reader(file, delimiter=separator)
        else:
            records = csv.reader(file, delimiter=separator, quoting=csv.QUOTE_NONE)
        yield from filter(None, records)


def _json_version(path: Path, spec: InputSpec, told: TableOverrides) -> Path:
    """The same rows as JSON lines: numbers as they are written, cells without blanks around them."""
    assert spec.columns is not None
    assert spec.dialect is not None
    target = path.with_suffix(".jsonl")
    kinds = {roles.NUMBER, roles.WEIGHT} | (set() if spec.label_rule else {roles.LABEL})
    numeric = {column.name for column in spec.columns.columns if column.role in kinds}
    with target.open("w", encoding="utf-8") as out:
        for place, record in enumerate(_records(path, spec)):
            if place or not spec.dialect.header:
                cells = [cell.strip() for cell in record]
                out.write(parsers_exact.as_object(spec.columns.names, cells, numeric))
    found, _ = inference.infer([str(target)], told, bits=BITS)
    columns = spec.columns.as_json()
    return _store(target, _with_rule(found, spec.label_rule, columns=columns))


def _quoted_version(path: Path, spec: InputSpec) -> Path:
    """A text column as CSV: quoted where there are commas or quotes."""
    target = path.with_suffix(".csv")
    with target.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(_records(path, spec))
    dialect = {"separator": ",", "header": True, "quoting": True}
    return _store(target, _with_rule(spec, spec.label_rule, dialect=dialect, format="csv"))


def load_spec(path: Path) -> InputSpec:
    return input_spec.from_json(json.loads(Path(f"{path}.spec").read_text()))


def time_file(path: Path, threads: int, repeats: int) -> Times:
    """Seconds of each contender on one file."""
    spec = load_spec(path)

    def drain(batches: Iterable[Any]) -> None:
        for _ in batches:
            pass

    contenders = [clocked(OURS, lambda: drain(ours(path, spec, threads)))]
    for library in libraries(spec):
        run = partial(library.examples, path, spec, threads)
        contenders.append(clocked(library.name, lambda run=run: drain(run())))  # type: ignore[misc]
        if library.name == STREAMED:
            bare = partial(library.columns, path, spec, threads)
            contenders.append(clocked(COLUMNS_ONLY, lambda bare=bare: drain(bare())))  # type: ignore[misc]
    return alternate(contenders, repeats)


def compare_file(path: Path) -> dict[str, str]:
    """Whether each library makes the same examples of a file."""
    spec = load_spec(path)
    expected = parsers_exact.join(ours(path, spec, 1))
    return {each.name: parsers_exact.outcome(each, path, spec, expected) for each in libraries(spec)}


def table(paths: Iterable[Path], timed: dict[str, Times], exact: dict[str, dict[str, str]]) -> str:
    """How many times faster we are, in processor time and on the wall; where a library differs."""
    paths = list(paths)
    names = [name for name in timed[paths[0].name] if name != OURS and not name.endswith(WALL)]
    rows = []
    for path in paths:
        times, size = timed[path.name], path.stat().st_size / 1e6
        cells = [f"{size:.0f}", f"{size / median(times[OURS]):.0f} / {size / median(times[OURS + WALL]):.0f}"]
        for name in names:
            cell = f"{ratio(times, OURS, name):.2f} / {ratio(times, OURS + WALL, name + WALL):.2f}"
            outcome = exact[path.name].get(name, parsers_exact.SAME)
            cells.append(cell if outcome == parsers_exact.SAME else f"{cell} ({outcome})")
        rows.append([path.name, *cells])
    return sections.table(["", "MB", "ours, MB/s", *names], rows)


def faster(timed: dict[str, Times], paths: Iterable[Path]) -> str:
    """On how many files we are faster by enough, by each library."""
    paths = list(paths)
    lines = []
    for name in timed[paths[0].name]:
        if name in (OURS, COLUMNS_ONLY) or name.endswith(WALL):
            continue
        found = [ratio(timed[path.name], OURS, name) for path in paths]
        enough = sum(figure >= ENOUGH for figure in found)
        lines.append(
            f"- against {name}: {min(found):.2f} to {max(found):.2f}, "
            f"at least {ENOUGH:g} on {enough} of {len(found)} files"
        )
    return "\n".join(lines)


def report(paths: list[Path], timed: dict[int, dict[str, Times]], folder: Path, numbers: int) -> str:
    exact = {path.name: compare_file(path) for path in paths}
    parts = []
    for title, probes in (
        ("CSV and TSV", parsers_exact.CSV_PROBES),
        ("JSON lines", parsers_exact.JSON_PROBES),
    ):
        chosen = [path for path in paths if (path.suffix == ".jsonl") == (title == "JSON lines")]
        if not chosen:
            continue
        for threads, times in timed.items():
            words = "one thread" if threads == 1 else f"{threads} threads"
            parts.append(f"**{title}, {words}: how many times faster ours is, processor / wall**")
            parts += [table(chosen, times, exact), faster(times, chosen)]
        parts.append(f"**{title}: what libraries make of peculiar files**")
        parts.append(parsers_exact.markdown(probes, folder, numbers))
    return "\n\n".join(parts)


def measure(paths: list[Path], threads: int, repeats: int) -> dict[str, Times]:
    """The times of all files, in a process of its own with so many threads."""
    command = [sys.executable, "-m", "benchmarks.speed.parsers", "--repeats", str(repeats)]
    command += ["--threads", str(threads), *map(str, paths)]
    environment = os.environ | {"POLARS_MAX_THREADS": str(threads)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, Times] = json.loads(done.stdout)
    return found


@click.command()
@click.option("--data", default=os.environ.get("STEELYARD_DATA", "../shared/data"), show_default=True)
@click.option("--megabytes", default=30.0, show_default=True, help="About the size of small files, repeated.")
@click.option("--repeats", default=7, show_default=True)
@click.option("--numbers", default=20_000, show_default=True, help="Random numbers to compare.")
@click.option("--only", multiple=True, help="Only these files.")
@click.option("--output", type=click.Path(path_type=Path), help="The page to put the tables into.")
@click.option("--threads", type=int, hidden=True, help="Time the given files in this process.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
def main(
    data: str,
    megabytes: float,
    repeats: int,
    numbers: int,
    only: tuple[str, ...],
    output: Path | None,
    threads: int | None,
    paths: tuple[Path, ...],
) -> None:
    """Our readers of tables beside those of pyarrow, polars and orjson."""
    if threads is not None:
        pyarrow.set_cpu_count(threads)
        click.echo(json.dumps({path.name: time_file(path, threads, repeats) for path in paths}))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = [file for file in FILES if not only or file.name in only]
        made = prepare(chosen, Path(data), folder, megabytes)
        timed = {count: measure(made, count, repeats) for count in THREADS}
        text = report(made, timed, folder, numbers)
    Console(soft_wrap=True).print(text, markup=False, highlight=False)
    if output is not None:
        sections.write(output, "benchmarks.speed.parsers", text)


if __name__ == "__main__":
    main()
