"""The speed of active learning: the paper's simulations, query probabilities, the wait for the next question.

    STEELYARD_DATA=folder python -m benchmarks.active.speed --output docs/active.md

Processor time is the sum over threads. Wall time is shown, too; it means little on a busy machine.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import sparse

from benchmarks.active import paper_active
from benchmarks.speed.sweeps import SCHEDULES
from benchmarks.support import labelled, sections
from benchmarks.support.generate import DataSet, generate
from benchmarks.support.labelled import Problem
from benchmarks.support.timing import WALL, Stopwatch, Target
from steelyard import ActiveClassifier, losses
from steelyard.active.simulation import Asker, Simulation
from steelyard.examples import examples
from steelyard.model import Settings

BUDGET = 1_000
_COPIES = 5  # of the generated rows make the pool
_RUN = "run"


@dataclass(frozen=True)
class Measured:
    """Seconds of repeats, processor and wall time; the figure in the unit of the target."""

    what: str
    times: dict[str, list[float]]
    target: Target
    unit: str
    amount: float = 1.0
    """Units per second: rows for a rate, 1,000 for milliseconds."""

    @property
    def cells(self) -> list[str]:
        by_processor, by_wall = self.times[_RUN], self.times[_RUN + WALL]
        usual = float(np.median(by_processor))
        verdict = "reached" if self.target.reached(self._figure(usual)) else "**missed**"
        figures = [usual, max(by_processor), float(np.median(by_wall))]
        shown = [f"{self._figure(seconds):.3g} {self.unit}" for seconds in figures]
        return [self.what, *shown, f"{self.target} {self.unit}", verdict]

    def _figure(self, seconds: float) -> float:
        return self.amount / seconds if self.target.at_least else self.amount * seconds


@click.command()
@click.option("--repeats", default=5, show_default=True, help="How often the first two are measured.")
@click.option(
    "--rows", default=200_000, show_default=True, help="Generated; the pool has five times as many."
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(repeats: int, rows: int, output: Path | None) -> None:
    generated = generate(rows)
    found = [
        *simulations(labelled.load("rcv1-ccat"), repeats),
        probabilities(generated, repeats),
        *(questions(generated, kept) for kept in (False, True)),
    ]
    heads = ["what", "processor", "slowest", "wall", "target", ""]
    text = TEXT.format(table=sections.table(heads, [each.cells for each in found]), budget=BUDGET)
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.active.speed", text)


def simulations(problem: Problem, repeats: int) -> list[Measured]:
    """1,980 learners of each update on one stream, on two threads."""
    shown = problem.split(0)[0][: paper_active.ROWS]
    stream = examples(problem.matrix[shown], problem.labels[shown])
    loss = losses.by_name("squared")
    found = []
    for update in paper_active.UPDATES:
        ways = [
            Asker(Settings(loss, update, "row_norm", *schedule, bias=False), "iwal", c0)
            for c0, schedule in product(paper_active.C0, SCHEDULES)
        ]

        def run(ways: Sequence[Asker] = ways) -> None:
            Simulation(ways, stream.features, threads=2).learn(stream)

        what = f"{len(ways):,} learners, {update}, {len(shown):,} rows of {problem.name}"
        found.append(Measured(what, _repeated(run, repeats), Target(10.0, at_least=False), "s"))
    return found


def probabilities(data: DataSet, repeats: int) -> Measured:
    """By a classifier that has learned some labels."""
    known = min(BUDGET, len(data.labels))
    classifier = ActiveClassifier(classes=[-1, 1], rate=0.05)
    classifier.replay(data.rows[:known], data.labels[:known])
    times = _repeated(lambda: classifier.query_probability(data.rows), repeats)
    per_row = data.entries / len(data.labels)
    what = f"`query_probability` of {len(data.labels):,} rows with {per_row:.0f} features"
    return Measured(what, times, Target(1.0), "M rows/s", len(data.labels) / 1e6)


def questions(data: DataSet, kept: bool) -> Measured:
    """From an answer to the next question, until the budget is spent."""
    pool = sparse.vstack([data.rows] * _COPIES, format="csr")
    labels = np.tile(data.labels, _COPIES)
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        journal = Path(folder) / "labels.journal" if kept else None
        classifier = ActiveClassifier(classes=[-1, 1], budget=BUDGET, journal=journal).pool(pool)
        question = classifier.ask_next()
        while question is not None:
            watch = Stopwatch()
            classifier.answer(question.id, labels[question.row])
            question = classifier.ask_next()
            _add(times, watch)
        classifier.close()
    where = "a journal on disk" if kept else "no journal"
    what = f"answer → next question, a pool of {len(labels):,} rows, {where}"
    return Measured(what, times, Target(20.0, at_least=False), "ms", 1e3)


def _repeated(run: Any, repeats: int) -> dict[str, list[float]]:
    run()  # compiles
    times: dict[str, list[float]] = {}
    for _ in range(repeats):
        watch = Stopwatch()
        run()
        _add(times, watch)
    return times


def _add(times: dict[str, list[float]], watch: Stopwatch) -> None:
    for name, seconds in watch.times(_RUN).items():
        times.setdefault(name, []).append(seconds)


TEXT = """
## How fast

Medians, and the slowest of all. The target is for the median of processor time, summed over threads; wall
time is shown beside it. The learners run on two threads, the rest on one. {budget:,} labels are asked for
from the pool. Between two questions many of its rows are scored, and now and then the model is refitted. The
target is for the median, not for every question.

{table}
"""

if __name__ == "__main__":
    main()
