"""What threads that parse ahead give, and what limits them: `python -m benchmarks.speed.threads`.

Writes its section of docs/files.md. Generated files of three formats are learned with one thread and with two
in turns, start-up left out; then read without learning. Learning keeps its order, on one thread, so its share
of the time says how much any number of workers could give.
"""

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import click

from benchmarks.support import sections
from steelyard.engine import file_training
from steelyard.engine.run_options import RunOptions
from steelyard.io.read_options import ReadOptions
from steelyard.losses import by_name
from steelyard.model import Settings

PAGE = Path(__file__).parents[2] / "docs/files.md"
HEADS = [
    "file", "one thread", "two threads, on the wall", "two threads, processor time", "learning's share",
    "at most",
]  # fmt: skip


def vw_lines(rows: int) -> Iterator[str]:
    draw = random.Random(0)
    for _ in range(rows):
        features = " ".join(f"{draw.randrange(50_000)}:{draw.random():.3f}" for _ in range(60))
        yield f"{draw.choice([-1, 1])} | {features}\n"


def csv_lines(rows: int) -> Iterator[str]:
    draw = random.Random(0)
    yield "label," + ",".join(f"n{k}" for k in range(12)) + ",colour,place\n"
    for _ in range(rows):
        numbers = ",".join(f"{draw.gauss(0, 3):.4f}" for _ in range(12))
        yield f"{draw.randrange(2)},{numbers},c{draw.randrange(9)},p{draw.randrange(500)}\n"


def text_lines(rows: int) -> Iterator[str]:
    draw = random.Random(0)
    words = [f"word{k}" for k in range(20_000)]
    often = [1.0 / (k + 10) for k in range(len(words))]
    for _ in range(rows):
        text = " ".join(draw.choices(words, often, k=120))
        yield json.dumps({"label": draw.choice(["good", "bad"]), "text": text}) + "\n"


FILES: dict[str, tuple[str, Callable[[int], Iterator[str]], int]] = {
    "Vowpal Wabbit text, 60 features": ("rows.vw", vw_lines, 2),
    "CSV, 14 columns": ("rows.csv", csv_lines, 10),
    "JSON lines, 120 words": ("rows.jsonl", text_lines, 1),
}


def spend(path: Path, threads: int, *, learn: bool) -> tuple[float, float]:
    """Seconds of the clock and of the processor; only to read, without learning."""
    options = ReadOptions.from_keywords(bits=18)
    run = RunOptions(threads=threads, calibrate_progressively=False)
    training = file_training.begin(
        [str(path)], options, run, lambda inferred: [Settings(by_name("modified_huber"))]
    )
    training.warm_up()
    wall, spent = time.perf_counter(), time.process_time()
    if learn:
        training.run()
    else:
        for _ in training.files.rows(None).pieces(0):
            pass
    return time.perf_counter() - wall, time.process_time() - spent


def measure(name: str, rows: int, repeats: int) -> list[str]:
    """The row of the table for one file."""
    file, lines, times = FILES[name]
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        path = Path(folder) / file
        with path.open("w") as written:
            written.writelines(lines(rows * times))
        size = path.stat().st_size / 1e6
        spend(path, 2, learn=True)
        found = [
            (spend(path, 1, learn=True), spend(path, 2, learn=True), spend(path, 1, learn=False))
            for _ in range(repeats)
        ]
    share = max(1.0 - median(read[1] / one[1] for one, _, read in found), 0.01)
    return [
        f"{name} ({size:,.0f} MB)", f"{size / median(one[1] for one, _, _ in found):,.0f} MB/s",
        f"{median(one[0] / two[0] for one, two, _ in found):.2f} ×",
        f"{median(two[1] / one[1] for one, two, _ in found):.2f} ×", f"{share:.0%}", f"{1.0 / share:.1f} ×",
    ]  # fmt: skip


@click.command()
@click.option("--rows", default=60_000, show_default=True)
@click.option("--repeats", default=7, show_default=True)
@click.option("--page", type=click.Path(path_type=Path), default=PAGE)
def main(rows: int, repeats: int, page: Path) -> None:
    """Measure, and write the table."""
    text = sections.table(HEADS, [measure(name, rows, repeats) for name in FILES])
    sections.write(page, "benchmarks.speed.threads", text)
    click.echo(text)


if __name__ == "__main__":
    main()
