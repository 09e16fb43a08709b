"""How far is a weight from copies? Every loss, scaling and update, learned both ways in the same order.

    STEELYARD_DATA=folder python -m benchmarks.invariance --output docs/invariance.md

Each row of rcv1-ccat gets a whole number as its weight. One classifier learns the weights, the other
as many copies of each row, one after another. Prints tables, and with `--output` puts them into
their place on the page.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks import labelled, sections
from benchmarks.labelled import Problem
from steelyard import OnlineClassifier, losses
from steelyard.model import SCALINGS

ADAPTIVE = ("adaptive", "normalized", "standardized")
UPDATES = ("invariant", "implicit", "explicit")
NOTHING = 1e-5  # relative: rounding in float32, added up
LITTLE = 5e-4  # that of sums over hundreds of copies
SMALL, LARGE = "weights from 1 to 5", "weights from 1 to 100"

# Differences between two ways to learn: of predictions, relative, and of accuracy, in points
Differences = tuple[float, float]


@click.command()
@click.option("--rows", default=5000, show_default=True, help="Rows to learn.")
@click.option("--loss", "chosen", multiple=True, help="A loss; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(rows: int, chosen: Sequence[str], output: Path | None) -> None:
    problem = labelled.load("rcv1-ccat")
    tables = {
        kind: table(problem, drawn, list(chosen) or losses.names()) for kind, drawn in weights(rows).items()
    }
    text = "\n\n".join(f"### {kind.capitalize()}\n\n{shown}" for kind, shown in tables.items())
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.invariance", TEXT.format(tables=text, rows=f"{rows:,}"))


def weights(rows: int) -> dict[str, NDArray[np.int64]]:
    """Drawn evenly, and evenly by order of magnitude."""
    random = np.random.default_rng(0)
    wide = np.exp(random.uniform(0.0, np.log(100.5), rows))
    return {SMALL: random.integers(1, 6, rows), LARGE: np.rint(wide).astype(np.int64)}


def table(problem: Problem, drawn: NDArray[np.int64], names: list[str]) -> str:
    lines = []
    for name in names:
        cells = [
            cell(differences(problem, drawn, name, "invariant", scaling, rates="flow"))
            if scaling in ADAPTIVE
            else "as below"
            for scaling in SCALINGS
        ]
        lines.append([f'`{name}`, invariant, `rates="flow"`', *cells])
        for update in UPDATES:
            cells = [cell(differences(problem, drawn, name, update, scaling)) for scaling in SCALINGS]
            lines.append([f"`{name}`, {update}", *cells])
        click.echo(name, err=True)
    return sections.table(["loss, update", *SCALINGS], lines)


def differences(
    problem: Problem, drawn: NDArray[np.int64], loss: str, update: str, scaling: str, rates: str = "row"
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
            rates=rates,
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


def cell(found: Differences | None) -> str:
    if found is None:
        return "overflows"
    relative, points = found
    if relative < NOTHING:
        return f"< {NOTHING:.3%}"
    if relative < LITTLE:
        return f"< {LITTLE:.2%}"
    return f"{relative:.1%} / {points:+.2f}" if relative < 1.0 else f"{relative:,.0%} / {points:+.2f}"


TEXT = """
## Measured

{rows} rows of rcv1-ccat, one pass, default learning rates, float32. Each cell has two figures: the root mean
square of the difference between the predictions of both learners on the test rows, in per cent of the root
mean square of the predictions; and by how many points the learner of weights is more accurate than the
learner of copies.

{tables}
"""

if __name__ == "__main__":
    main()
