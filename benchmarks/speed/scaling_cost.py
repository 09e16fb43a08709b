"""What the default scaling costs beside `normalized`: its kernel, `fit`, and models side by side.

    STEELYARD_DATA=folder python -m benchmarks.speed.scaling_cost --output docs/benchmarks.md

Rows are learned in chunks of a millisecond or so, both scalings in turn. Of each chunk the least time of all
rounds counts, and the sum over the chunks is shown: other programs disturb some chunks in every round, but
hardly the same one in all of them.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click
import numpy as np
from scipy import sparse

from benchmarks.support import labelled, sections
from steelyard import OnlineClassifier, losses
from steelyard.engine.lane_block import LaneBlock
from steelyard.examples import Examples, examples
from steelyard.learner import Learner
from steelyard.model import Settings

SCALINGS = ("normalized", "standardized")
SETS = ("rcv1-ccat", "enron-spam", "url-spam", "a9a")
DENSE = "dense numbers, 100 columns"
CHUNK = 1000
LANES = 5  # as many as `learning_rate="auto"` has
LOSS = losses.by_name("modified_huber")

Seconds = Iterator[float]
Run = Callable[[str], Seconds]


@click.command()
@click.option("--rounds", default=15, show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(rounds: int, output: Path | None) -> None:
    lines = []
    for name in (*SETS, DENSE):
        X, y = rows_of(name)
        chunks = [
            examples(X[start : start + CHUNK], y[start : start + CHUNK]) for start in range(0, len(y), CHUNK)
        ]
        values = sum(len(chunk.values) for chunk in chunks)
        runs: list[Run] = [
            *(partial(run, chunks=chunks) for run in (first_pass, second_pass)),
            partial(fit, X=X, y=y),
            partial(side_by_side, chunks=chunks),
        ]
        cells = [cell(run, rounds, values) for run in runs]
        lines.append([name, *cells])
        click.echo(lines[-1], err=True)
    heads = ["set", "kernel, first pass", "kernel, second pass", "`fit`", f"{LANES} models side by side"]
    text = TEXT.format(table=sections.table(heads, lines), rounds=rounds)
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.speed.scaling_cost", text)


def rows_of(name: str) -> tuple[sparse.csr_matrix | np.ndarray, np.ndarray]:
    if name == DENSE:
        random = np.random.default_rng(0)
        X = random.normal(3.0, 1.0, (20_000, 100)).astype(np.float32)
        return X, np.where(X[:, :10].sum(axis=1) + random.normal(size=len(X)) > 30.0, 1.0, -1.0)
    problem = labelled.load(name)
    train, _ = problem.split(0)
    return problem.matrix[train], problem.labels[train]


def cell(run: Run, rounds: int, values: int) -> str:
    """Nanoseconds for each value of the rows, and how they compare."""
    least: dict[str, np.ndarray] = {}
    for _ in range(rounds):
        for scaling in SCALINGS:
            found = np.array(list(run(scaling)))
            least[scaling] = np.minimum(least.get(scaling, np.inf), found)
    old, new = (1e9 * float(least[scaling].sum()) / values for scaling in SCALINGS)
    return f"{new:.1f} / {old:.1f} = {new / old:.2f}"


def first_pass(scaling: str, chunks: list[Examples]) -> Seconds:
    yield from learn(Learner(Settings(LOSS, scaling=scaling), chunks[0].features), chunks)


def second_pass(scaling: str, chunks: list[Examples]) -> Seconds:
    learner = Learner(Settings(LOSS, scaling=scaling), chunks[0].features)
    list(learn(learner, chunks))
    yield from learn(learner, chunks)


def learn(learner: Learner, chunks: list[Examples]) -> Seconds:
    for chunk in chunks:
        began = time.perf_counter()
        learner.learn(chunk)
        yield time.perf_counter() - began


def side_by_side(scaling: str, chunks: list[Examples]) -> Seconds:
    rates = 0.15 * 2.0 ** np.arange(LANES)
    block = LaneBlock(
        [Settings(LOSS, scaling=scaling, learning_rate=float(rate)) for rate in rates], chunks[0].features
    )
    for chunk in chunks:
        columns = chunk.labels[:, np.newaxis], chunk.sample_weight[:, np.newaxis]
        began = time.perf_counter()
        block.learn(chunk, np.arange(len(chunk)), *columns)
        yield time.perf_counter() - began


def fit(scaling: str, X: sparse.csr_matrix | np.ndarray, y: np.ndarray) -> Seconds:
    classifier = OnlineClassifier(scaling=scaling, passes=1)
    began = time.process_time()
    classifier.fit(X, y)
    yield time.process_time() - began


TEXT = """
## What the default scaling costs

`scaling="standardized"`, the default, beside `"normalized"`: nanoseconds for each value of the rows that is
not 0, and their ratio. Loss and all else as by default, in float32; {rounds} rounds in turn, the least
time of each chunk of rows, `fit` as a whole, by processor time (`python -m benchmarks.speed.scaling_cost`).

{table}

Both learn only from rows that are not yet predicted with a margin, and standardized scaling finds fewer of
them; a row that it learns costs more, since it has four numbers a feature instead of three. Looking up how
rare a class is takes some 40 µs for each chunk, which here has only 1,000 rows.
"""

if __name__ == "__main__":
    main()
