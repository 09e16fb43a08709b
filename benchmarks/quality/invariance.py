"""A weight against as many copies: every loss, scaling and update, learned both ways in the same order.

    STEELYARD_DATA=folder python -m benchmarks.quality.invariance --output docs/invariance.md

Each row of rcv1-ccat gets a whole number as its weight. One classifier learns the weights, the other
as many copies of each row, one after another. Prints a table, and with `--output` puts it into
its place on the page.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.support import labelled, sections
from benchmarks.support.labelled import Problem
from steelyard import OnlineClassifier, losses
from steelyard.settings import SCALINGS

WAYS = (("invariant", "float64"), ("invariant", "float32"), ("implicit", "float32"), ("explicit", "float32"))
ROUNDING = {"float64": 1e-8, "float32": 1e-5}  # relative
LARGEST = 100

# Differences between two ways to learn: of predictions, relative, and of accuracy, in points
Differences = tuple[float, float]


@click.command()
@click.option("--rows", default=5000, show_default=True, help="Rows to learn.")
@click.option("--loss", "chosen", multiple=True, help="A loss; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(rows: int, chosen: Sequence[str], output: Path | None) -> None:
    problem = labelled.load("rcv1-ccat")
    lines = []
    for update, dtype in WAYS:
        for name in chosen or losses.names():
            found = [
                differences(problem, weights(rows), name, update, scaling, dtype) for scaling in SCALINGS
            ]
            lines.append([f"{update}, {dtype}, `{name}`", *(cell(each, ROUNDING[dtype]) for each in found)])
            click.echo(lines[-1], err=True)
    text = TEXT.format(
        table=sections.table(["update, type, loss", *SCALINGS], lines), rows=f"{rows:,}", largest=LARGEST
    )
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.quality.invariance", text)


def weights(rows: int) -> NDArray[np.int64]:
    """From 1 to `LARGEST`, drawn evenly by order of magnitude."""
    random = np.random.default_rng(0)
    return np.rint(np.exp(random.uniform(0.0, np.log(LARGEST + 0.5), rows))).astype(np.int64)


def differences(
    problem: Problem, drawn: NDArray[np.int64], loss: str, update: str, scaling: str, dtype: str
) -> Differences | None:
    """None where a learner, which then is explicit, leaves the range of its numbers."""
    train, test = problem.split(seed=0)
    train = train[: len(drawn)]
    results = []
    for rows, given in ((train, drawn), (train.repeat(drawn), None)):
        classifier = OnlineClassifier(
            loss,
            update=update,
            scaling=scaling,
            dtype=dtype,
            weight_scale="as_given",
            passes=1,
            shuffle=False,
        )
        try:
            classifier.fit(problem.matrix[rows], problem.labels[rows], sample_weight=given)
        except FloatingPointError:
            return None
        truth = problem.labels[test]
        decisions = classifier.decision_function(problem.matrix[test])
        results.append((decisions, 100.0 * float(np.mean((decisions > 0.0) == (truth > 0.0)))))
    (weighted, ours), (copied, theirs) = results
    return float(np.sqrt(np.mean((weighted - copied) ** 2) / np.mean(copied**2))), ours - theirs


def cell(found: Differences | None, rounding: float) -> str:
    if found is None:
        return "overflows"
    relative, points = found
    if relative < rounding:
        return "exact"
    digits = 3 if relative < 1e-3 else 1 if relative < 1.0 else 0
    return f"{relative:,.{digits}%} / {points:+.2f}"


TEXT = """
## Measured

{rows} rows of rcv1-ccat, weights from 1 to {largest}, one pass, default learning rates. *Exact*: the root
mean square of the difference between the predictions of both learners on the test rows, divided by the root
mean square of the predictions, is below 1e-8 in float64 and 1e-5 in float32. All other cells show this
figure, and by how many points the learner of weights is more accurate than the learner of copies
(`python -m benchmarks.quality.invariance`).

{table}
"""

if __name__ == "__main__":
    main()
