"""What rates that follow the flow are worth: accuracy, F1 of the rarer class, and time to learn.

    STEELYARD_DATA=folder python -m benchmarks.rate_flow --output docs/invariance.md

Both classifiers learn the same shuffled rows once, in turn. Times are of the processor, the least of all.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from sklearn.metrics import f1_score

from benchmarks import labelled, sections
from steelyard import OnlineClassifier

RATES = ("row", "flow")
Figures = tuple[float, float, float]  # accuracy and F1 in per cent, seconds


@click.command()
@click.option("--set", "chosen", multiple=True, help="A set; may be repeated. All of them by default.")
@click.option("--seeds", default=3, show_default=True)
@click.option("--loss", default="modified_huber", show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(chosen: Sequence[str], seeds: int, loss: str, output: Path | None) -> None:
    found = {}
    for name in chosen or labelled.names():
        found[name] = measure(labelled.load(name), seeds, loss)
        click.echo(name, err=True)
    text = table(found)
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.rate_flow", TEXT.format(table=text, seeds=seeds))


def measure(problem: labelled.Problem, seeds: int, loss: str) -> list[Figures]:
    runs: dict[str, list[Figures]] = {rates: [] for rates in RATES}
    rare = 1.0 if np.mean(problem.labels > 0.0) < 0.5 else -1.0
    for seed in range(seeds):
        train, test = problem.split(seed)
        X, y = problem.matrix[train], problem.labels[train]
        for rates in RATES:
            classifier = OnlineClassifier(loss, rates=rates, passes=1, shuffle=False)
            classifier.partial_fit(X[:1], y[:1], classes=[-1.0, 1.0])  # compiled by now
            began = time.process_time()
            classifier.fit(X, y)
            seconds = time.process_time() - began
            predicted, truth = classifier.predict(problem.matrix[test]), problem.labels[test]
            f1 = f1_score(truth, predicted, pos_label=rare, zero_division=0.0)
            runs[rates].append((100.0 * float(np.mean(predicted == truth)), 100.0 * float(f1), seconds))
    return [
        (*np.mean([run[:2] for run in each], axis=0), min(run[2] for run in each)) for each in runs.values()
    ]


def table(found: dict[str, list[Figures]]) -> str:
    lines = []
    for name, (row, flow) in found.items():
        lines.append(
            [
                name,
                f"{row[0]:.2f}",
                f"{flow[0]:.2f}",
                f"{row[1]:.1f}",
                f"{flow[1]:.1f}",
                f"{flow[2] / row[2]:.1f}",
            ]
        )
    row, flow = (np.mean([each[k] for each in found.values()], axis=0) for k in range(2))
    ratio = float(np.median([flow[2] / row[2] for row, flow in found.values()]))
    lines.append(
        ["**mean** (of times, median)"]
        + [f"**{value}**" for value in (f"{row[0]:.2f}", f"{flow[0]:.2f}", f"{row[1]:.1f}", f"{flow[1]:.1f}")]
        + [f"**{ratio:.1f}**"]
    )
    return sections.table(["set", "accuracy, row", "flow", "F1, row", "flow", "time, flow / row"], lines)


TEXT = """
## What exactness costs

`rates="flow"` compared with the default, `rates="row"`: {seeds} shuffles, one pass, default parameters.
F1 is that of the rarer class, the last column how many times as long learning takes
(`python -m benchmarks.rate_flow`).

{table}
"""

if __name__ == "__main__":
    main()
