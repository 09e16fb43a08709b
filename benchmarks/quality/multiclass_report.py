"""More than two classes: how accurate, and how much time, beside scikit-learn's ways to do it.

    STEELYARD_DATA=folder python -m benchmarks.quality.multiclass_report --output docs/estimators.md

Prints a table, and with `--output` puts it into its place on the page.
"""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.support import multiclass, sections, timing
from benchmarks.support.labelled import Problem
from steelyard import OnlineClassifier

CONTENDERS: dict[str, Callable[[int], Any]] = {
    "steelyard": lambda _: OnlineClassifier(passes=1, shuffle=False),
    'steelyard, `learning_rate="auto"`': lambda _: OnlineClassifier(
        learning_rate="auto", passes=1, shuffle=False
    ),
    "steelyard in OneVsRestClassifier": lambda _: OneVsRestClassifier(
        OnlineClassifier(passes=1, shuffle=False)
    ),
    "SGDClassifier": lambda seed: SGDClassifier(max_iter=1, tol=None, random_state=seed),
    "LinearSVC": lambda seed: LinearSVC(random_state=seed),
}
OURS = next(iter(CONTENDERS))


@click.command()
@click.option("--seeds", default=3, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    rows = []
    for name in only or multiclass.names():
        rows.append([name, *measure(multiclass.load(name), seeds)])
        click.echo(rows[-1], err=True)
    table = sections.table(["data set", *CONTENDERS], rows)
    click.echo(table)
    if output is not None:
        sections.write(output, "benchmarks.quality.multiclass_report", TEXT.format(table=table, seeds=seeds))


def measure(problem: Problem, seeds: int) -> list[str]:
    """For each contender the accuracy, and its processor time as a multiple of ours, all in one go."""
    splits = [problem.split(seed) for seed in range(seeds)]
    scores: dict[str, list[float]] = {name: [] for name in CONTENDERS}

    def contender(name: str) -> timing.Contender:
        turn = iter([0, *range(seeds)])  # the first is the warm-up

        def once() -> dict[str, float]:
            seed = next(turn)
            train, test = splits[seed]
            estimator = CONTENDERS[name](seed)
            matrix, labels = problem.matrix[train], problem.labels[train]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # LinearSVC may stop before it has converged
                watch = timing.Stopwatch()
                estimator.fit(matrix, labels)
                times = watch.times(name)
            scores[name].append(float(estimator.score(problem.matrix[test], problem.labels[test])))
            return times

        return once

    times = timing.alternate([contender(name) for name in CONTENDERS], seeds)
    return [
        f"{100.0 * np.mean(scores[name][1:]):.2f} (× {timing.ratio(times, OURS, name):.1f})"
        for name in CONTENDERS
    ]


TEXT = """
Test accuracy in per cent after **one pass**, the mean over {seeds} shuffles; in parentheses the processor
time of `fit`, as a multiple of ours. LinearSVC is a batch solver with many passes.

{table}

- Text is counts of words; numbers are not scaled.
- `newsgroups` has about 7,500 test rows of its own; of the other sets a fifth is for testing: 30 rows of
  iris, 36 of wine.
- One pass over the 120 rows of iris, or the 142 of wine, is too little for an online learner: by
  default `fit` learns so few rows several times. Most of the time then goes into everything but learning.
"""

if __name__ == "__main__":
    main()
