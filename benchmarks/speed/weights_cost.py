"""What a weight costs: the time to learn rows of some weight, against the same rows of weight 1.

    STEELYARD_DATA=folder python -m benchmarks.speed.weights_cost --output docs/benchmarks.md

Every round learns the rows with each kind of weight in turn. A figure is the median of the ratios within
the rounds, with its quartiles. Loss, scaling and all else are as by default.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.scaling_cost import DENSE, rows_of
from benchmarks.support import sections
from benchmarks.support.generate import generate
from benchmarks.support.timing import Contender, Target, Times, alternate, clocked
from steelyard import Learner, Settings, losses
from steelyard.examples import Examples, examples

GENERATED, DOCUMENTS = "generated", "rcv1-ccat"
SETS = (GENERATED, DOCUMENTS, DENSE)
LOSSES = ("modified_huber", "squared", "hinge", "logistic")
ONE, FRACTIONS, TEN, THOUSAND, MILLION = "1", "0 to 2", "mean 10", "mean 1,000", "mean 1,000,000"
ROWS = 20_000

Column = NDArray[np.float64]
Quartiles = tuple[float, float, float]


def whole(mean: int) -> Callable[[np.random.Generator, int], Column]:
    return lambda random, rows: random.integers(1, 2 * mean, rows).astype(np.float64)


WEIGHTS: dict[str, Callable[[np.random.Generator, int], Column]] = {
    ONE: lambda random, rows: np.ones(rows),
    FRACTIONS: lambda random, rows: random.uniform(0.0, 2.0, rows),
    TEN: whole(10),
    THOUSAND: whole(1000),
    MILLION: whole(1_000_000),
}
TARGETS = {
    ("modified_huber", TEN): 3.0,
    ("modified_huber", MILLION): 5.0,
    ("logistic", TEN): 4.0,
    ("logistic", MILLION): 15.0,
    **{(loss, FRACTIONS): 2.0 for loss in LOSSES},
}


@click.command()
@click.option("--rounds", default=15, show_default=True)
@click.option("--rows", default=ROWS, show_default=True, help="Rows to learn.")
@click.option("--set", "chosen", multiple=True, type=click.Choice(SETS), help="All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(rounds: int, rows: int, chosen: Sequence[str], output: Path | None) -> None:
    lines, missed = [], []
    for name in chosen or SETS:
        data = load(name, rows)
        for loss in LOSSES:
            times = measure(data, loss, rounds)
            nanoseconds = 1e9 * float(np.median(times[ONE])) / len(data[ONE].values)
            found = {kind: quartiles(times, kind) for kind in WEIGHTS if kind != ONE}
            lines.append([name, f"`{loss}`", f"{nanoseconds:.1f}", *map(cell, found.values())])
            missed += [f"{name}, `{loss}`, {kind}: {said}" for kind, said in verdicts(loss, found)]
            click.echo(lines[-1], err=True)
    heads = ["set", "loss", "weight 1, ns", *(kind for kind in WEIGHTS if kind != ONE)]
    text = TEXT.format(
        table=sections.table(heads, lines),
        rows=f"{rows:,}",
        rounds=rounds,
        missed="; ".join(missed) or "none",
    )
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.speed.weights_cost", text)


def load(name: str, rows: int) -> dict[str, Examples]:
    """The rows, with each kind of weight."""
    if name == GENERATED:
        data = generate(rows)
        X, y = data.rows, data.labels
    else:
        X, y = rows_of(name)
        X, y = X[:rows], y[:rows]
    random = np.random.default_rng(0)
    return {kind: examples(X, labels=y, sample_weight=draw(random, len(y))) for kind, draw in WEIGHTS.items()}


def measure(data: dict[str, Examples], loss: str, rounds: int) -> Times:
    return alternate([_contender(kind, rows, loss) for kind, rows in data.items()], rounds)


def _contender(kind: str, rows: Examples, loss: str) -> Contender:
    settings = Settings(losses.by_name(loss))
    return clocked(kind, lambda: Learner(settings, rows.features).learn(rows))


def quartiles(times: Times, kind: str) -> Quartiles:
    """Of the ratios to weight 1: the median, and what half of them lie between."""
    low, middle, high = np.quantile(np.array(times[kind]) / np.array(times[ONE]), [0.25, 0.5, 0.75])
    return float(middle), float(low), float(high)


def cell(found: Quartiles) -> str:
    middle, low, high = found
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def verdicts(loss: str, found: dict[str, Quartiles]) -> list[tuple[str, str]]:
    """The targets that are missed."""
    bounds = {kind: Target(TARGETS[loss, kind], at_least=False) for kind in found if (loss, kind) in TARGETS}
    return [
        (kind, f"{found[kind][0]:.2f}, target {bound}")
        for kind, bound in bounds.items()
        if not bound.reached(found[kind][0])
    ]


TEXT = """
## What weights cost

Up to {rows} rows, learned once by `Learner` in float32 with the default scaling: nanoseconds for each value
that is not 0 where all weights are 1, and how many times as long the same rows take with other weights, with
the quartiles of {rounds} rounds (`python -m benchmarks.speed.weights_cost`). Weights from 0 to 2 are drawn evenly
and are no whole numbers; the others are whole numbers, drawn evenly from 1 to twice their mean.

{table}

A weight of a million takes a few steps instead of a million: rates are rounded to levels, and as long as none
changes its level, the copies are one step ([the mathematics](mathematics.md#large-weights)). Other weights
make other models, which have more or fewer rows to learn from, so a ratio may be below 1.

Targets: weights from 0 to 2 at most 2 times as long; mean 10 and 1,000,000 with the default loss at most 3
and 5 times, with `logistic` at most 4 and 15 times. Missed: {missed}.
"""

if __name__ == "__main__":
    main()
