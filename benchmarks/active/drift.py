"""Active learning on a stream that drifts: enron-spam in the order of its dates, ham first and then spam.

    STEELYARD_DATA=folder python -m benchmarks.active.drift --output docs/active.md

A random fifth of the messages, of all dates, is the test set. All columns have the same learner.
"""

from pathlib import Path

import click
import numpy as np

from benchmarks.active.ways import DEFAULT, RANDOM, REFIT, Comparison
from benchmarks.support import labelled, sections
from benchmarks.support.labelled import TEST_SHARE, Problem

SHARES = (0.01, 0.05, 0.1)


@click.command()
@click.option("--seeds", default=3, show_default=True, help="Test sets to average over.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(seeds: int, output: Path | None) -> None:
    problem = labelled.load("enron-spam")
    rows = []
    for share in SHARES:
        found = np.array([errors(problem, share, seed) for seed in range(seeds)]).mean(axis=0)
        budget = round(share * round(len(problem.labels) * (1.0 - TEST_SHARE)))
        rows.append([f"{budget:,}", *(f"{error:.1f}" for error in found)])
        click.echo(rows[-1], err=True)
    table = sections.table(["labels", "random, of all dates", "pool", "stream, by date"], rows)
    text = TEXT.format(seeds=seeds, table=table).strip()
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.active.drift", text)


def errors(problem: Problem, share: float, seed: int) -> list[float]:
    """In per cent: random labels, `ActiveClassifier` on shuffled rows, and on rows by date."""
    shuffled, test = problem.split(seed)
    found = []
    for way, train in (((RANDOM, REFIT), shuffled), (DEFAULT, shuffled), (DEFAULT, np.sort(shuffled))):
        comparison = Comparison(
            problem.matrix[train], problem.labels[train], problem.matrix[test], problem.labels[test],
            round(share * len(train)), seed,
        )  # fmt: skip
        found += [error for _, error in comparison.errors([way])]
    return found


TEXT = """
A budget is kept on streams in the order of their dates, too, but there the labels that are asked for can be
worse than random ones. enron-spam by date; test error in per cent on messages of all dates, mean of {seeds}
test sets:

{table}

By date, almost all of the first half of enron-spam is ham, and all of the second half is spam. Among ham
alone nothing says which of it is nearly spam, and among spam alone the questions go to what looks most like
ham: the resulting model takes old ham for spam. If all rows are available, use them as a pool, whose order is
random.
"""

if __name__ == "__main__":
    main()
