"""Training from a converted file against training from memory: `python -m benchmarks.speed.converted`."""

import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import click
from rich.console import Console

from benchmarks.support.generate import DataSet, generate
from benchmarks.support.timing import WALL, Row, Table, Target, alternate, clocked, ratio, speed
from steelyard import losses
from steelyard.examples import examples
from steelyard.io.arrow_reader import ArrowReader
from steelyard.io.convert import convert
from steelyard.io.stream import Stream
from steelyard.learner import Learner
from steelyard.model import Settings

TARGET = Target(1.5, at_least=False)
MEMORY = "memory"
THREADS = (1, 2)


def table(data: DataSet, repeats: int, folder: Path) -> Table:
    """How many times as long a pass takes from the file, memory-mapped and in the page cache."""
    checked = examples(data.rows, data.labels)
    path = folder / "rows.arrow"
    convert([checked], path, features=checked.features)
    rows = []
    for scaling in ("plain", "standardized"):
        settings = Settings(loss=losses.by_name("logistic"), scaling=scaling)

        def from_memory(settings: Settings = settings) -> None:
            Learner(settings, checked.features).learn(checked)

        def from_file(threads: int, settings: Settings = settings) -> None:
            learner = Learner(settings, checked.features)
            for parsed in Stream([path], ArrowReader(checked.features), threads=threads):
                learner.learn(parsed.examples)

        contenders = [clocked(MEMORY, from_memory)]
        contenders += [clocked(f"{threads}", partial(from_file, threads)) for threads in THREADS]
        times = alternate(contenders, repeats)
        for threads in THREADS:
            for kind in ("", WALL):
                ours, theirs = f"{threads}{kind}", MEMORY + kind
                shown = speed(data.entries, times[ours]), speed(data.entries, times[theirs])
                what = f"logistic, {scaling}, threads: {threads}{kind or ', processor'}"
                rows.append(Row(what, MEMORY, *shown, ratio(times, theirs, ours), TARGET))
        best = median(times[MEMORY])
    size = path.stat().st_size / 1e6
    note = f"{len(checked)} rows, {size:.0f} MB; the last pass from memory took {best:.2f} s of processor"
    return Table(f"converted file: {data.name}", "times as long", rows, (note,))


@click.command()
@click.option("--rows", default=330_000, show_default=True, help="Rows of the generated matrix.")
@click.option("--repeats", default=9, show_default=True, help="Rounds of every comparison.")
def main(rows: int, repeats: int) -> None:
    """How much longer training takes from a converted file than from memory."""
    with tempfile.TemporaryDirectory() as folder:
        table(generate(rows), repeats, Path(folder)).show(Console(width=140))


if __name__ == "__main__":
    main()
