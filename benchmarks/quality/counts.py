"""Logs that were grouped, against the logs themselves: `STEELYARD_DATA=folder python -m benchmarks.quality.counts`.

Writes its table into docs/counts.md. Of each set a few columns are kept; rows that agree in them become one,
with the number of examples and of positives. Four fifths are learned with logistic loss in random orders: row
by row, grouped, and grouped without parts, where all copies of a label are learned at once.
"""

import csv
import gzip
import json
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import click
from click.testing import CliRunner

from benchmarks.support import sections
from steelyard.cli import main as steelyard

PAGE = Path(__file__).parents[2] / "docs/counts.md"
SETS: dict[str, tuple[tuple[str, ...], tuple[int, ...], int, str]] = {
    "adult": (("adult.data.gz",), (3, 5, 6, 9), 14, ">50K"),
    "census-income": (("census-income.gz",), (4, 7, 12, 15, 35), 41, "50000+."),
    "open-bandit": (("open-bandit/random_men.csv.gz", "open-bandit/bts_men.csv.gz"), (2, 3), 4, "1"),
}  # fmt: skip
HEADS = ["set", "rows", "grouped", "learned in parts", "log loss", "grouped", "all at once", "a constant"]
Log = list[tuple[tuple[str, ...], int]]


def read(name: str) -> Log:
    """The cells of each row, and 1 or 0: positive or not."""
    files, columns, label, positive = SETS[name]
    found: Log = []
    for file in files:
        with gzip.open(Path(os.environ["STEELYARD_DATA"]) / file, "rt", newline="") as lines:
            rows = [row for row in csv.reader(lines, skipinitialspace=True) if len(row) > label]
        rows = rows if rows[0][label] != "click" else rows[1:]
        found += [(tuple(f"v{row[k]}" for k in columns), int(row[label] == positive)) for row in rows]
    random.Random(0).shuffle(found)
    return found


def write(path: Path, heads: list[str], rows: Iterator[list[Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(rows)
    return path


def run(*arguments: Any) -> dict[str, Any]:
    given = [*map(str, arguments), "--json"]
    found: dict[str, Any] = json.loads(CliRunner().invoke(steelyard, given, catch_exceptions=False).stdout)
    return found


def measure(name: str, orders: int) -> list[str]:
    """The row of the table for one set."""
    log = read(name)
    learned, test = log[: len(log) * 4 // 5], log[len(log) * 4 // 5 :]
    groups: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for cells, label in learned:
        groups[cells][label] += 1
    heads = [f"c{k}" for k in range(len(log[0][0]))]
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as place:
        folder = Path(place)
        files = {
            "raw": write(folder / "raw.csv", [*heads, "y"], ([*cells, y] for cells, y in learned)),
            "parts": write(
                folder / "grouped.csv", [*heads, "y", "n"],
                ([*cells, ones, zeros + ones] for cells, (zeros, ones) in groups.items()),
            ),
            "whole": write(
                folder / "weighted.csv", [*heads, "y", "n"],
                ([*cells, y, n] for cells, both in groups.items() for y, n in enumerate(both) if n),
            ),
        }  # fmt: skip
        tested = write(folder / "test.csv", [*heads, "y"], ([*cells, y] for cells, y in test))
        ways = {
            "raw": ("--label", "y", "--shuffle"),
            "parts": ("--count", "n", "--positives", "y"),
            "whole": ("--label", "y", "--weight", "n", "--weight-scale", "as_given", "--shuffle"),
        }
        parts, constant = 0, 0.0
        losses: dict[str, list[float]] = {way: [] for way in ways}
        for seed in range(orders):
            for way, options in ways.items():
                model = folder / "model"
                common = ("--loss", "logistic", "--bits", 16, "--seed", seed, "--force", "-o", model)
                said = run("train", files[way], *options, *common)
                parts = said["learned"] if way == "parts" else parts
                found = run("evaluate", model, tested)
                losses[way].append(found["loss"])
                constant = found["best_constant_loss"]
    return [
        name, f"{len(learned):,}", f"{len(groups):,}", f"{parts:,}",
        *(f"{mean(losses[way]):.4f}" for way in ways), f"{constant:.4f}",
    ]  # fmt: skip


@click.command()
@click.option("--orders", default=5, show_default=True, help="Random orders, of which the mean is shown.")
@click.option("--page", type=click.Path(path_type=Path), default=PAGE)
def main(orders: int, page: Path) -> None:
    """Measure, and write the table."""
    text = sections.table(HEADS, [measure(name, orders) for name in SETS])
    sections.write(page, "benchmarks.quality.counts", text)
    click.echo(text)


if __name__ == "__main__":
    main()
