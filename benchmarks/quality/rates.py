"""Which learning rate does well untuned, for each loss? One pass with the default scaling, a grid of rates.

    STEELYARD_DATA=folder python -m benchmarks.quality.rates --output docs/defaults.md

As classifiers, all losses learn the sets of `benchmarks.support.labelled`; as regressors, those that take any
number learn the sets of `benchmarks.support.numeric`. Prints a table, and with `--output` puts it into its
place on the page.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import accuracy_score, d2_pinball_score, r2_score

from benchmarks.support import labelled, numeric, sections
from benchmarks.support.labelled import Problem
from steelyard import OnlineClassifier, OnlineRegressor, Settings, losses
from steelyard.losses import REAL_LINE

RATES = (0.1, 0.2, 0.3, 0.4, 0.6, 0.75, 0.9, 1.2, 1.5, 2.0, 3.0, 5.0, 8.0, 15.0, 22.5, 60.0)
CLASSES, NUMBERS = "classes", "numbers"

# For each loss and kind of task: points of a hundred, one row a set and one column a rate
Points = dict[tuple[str, str], NDArray[np.float64]]
Part = tuple[sparse.csr_matrix, NDArray[np.float64]]  # rows and their labels


@click.command()
@click.option("--seeds", default=2, show_default=True, help="Shuffles to average over.")
@click.option("--loss", "chosen", multiple=True, help="A loss; may be repeated. All of them by default.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(seeds: int, chosen: Sequence[str], only: Sequence[str], output: Path | None) -> None:
    points = measure(list(chosen) or losses.names(), seeds, only)
    click.echo(table(points))
    if output is not None:
        sections.write(output, "benchmarks.quality.rates", TEXT.format(table=table(points), seeds=seeds))


def measure(names: list[str], seeds: int, only: Sequence[str]) -> Points:
    """Set after set, since reading one takes as long as learning it."""
    rows: dict[tuple[str, str], list[list[float]]] = {}
    for kind, problem in problems(only):
        parts = [
            [(problem.matrix[rows], problem.labels[rows]) for rows in problem.split(seed)]
            for seed in range(seeds)
        ]
        for name in names:
            if kind == CLASSES or losses.by_name(name).labels == REAL_LINE:
                scores = [np.mean([score(part, kind, name, rate) for part in parts]) for rate in RATES]
                rows.setdefault((name, kind), []).append([float(100.0 * score) for score in scores])
        click.echo(problem.name, err=True)
    return {key: np.array(rows[key]) for key in sorted(rows)}


def problems(only: Sequence[str]) -> Iterator[tuple[str, Problem]]:
    for kind, names, load in (
        (CLASSES, labelled.names(), labelled.load),
        (NUMBERS, numeric.names(), numeric.load),
    ):
        yield from ((kind, load(name)) for name in names if not only or name in only)


def score(parts: list[Part], kind: str, loss: str, rate: float) -> float:
    """Accuracy; or how much of the variance, for quantile of the absolute deviation, is explained."""
    (learned, labels), (tested, truth) = parts
    estimator = (OnlineClassifier if kind == CLASSES else OnlineRegressor)(
        loss, learning_rate=rate, passes=1, shuffle=False
    )
    estimator.fit(learned, labels)
    measured_by: Callable[..., float] = accuracy_score
    if kind == NUMBERS:
        measured_by = d2_pinball_score if loss == "quantile" else r2_score
    return measured_by(truth, estimator.predict(tested))


def table(points: Points) -> str:
    """For each rate the regret, its mean over the sets and the worst; and the best rates' mean points."""
    rows = []
    for (name, kind), scores in points.items():
        regret = scores.max(axis=1, keepdims=True) - scores
        cells = [
            f"{mean:.2f} / {worst:.1f}" for mean, worst in zip(regret.mean(0), regret.max(0), strict=True)
        ]
        default = f"{Settings(loss=losses.by_name(name)).rate:g}"
        rows.append([f"`{name}`, {kind}", default, f"{scores.max(axis=1).mean():.2f}", *cells])
    return sections.table(["loss", "default", "best", *(f"{rate:g}" for rate in RATES)], rows)


TEXT = """
## The learning rate of each loss

`learning_rate=None` uses the default of the loss: its `default_learning_rate` with `scaling="normalized"`.
With `"standardized"` it is the same for losses of two classes, whose steps are longer where one of them is
rare, and 1.5 times that for the others. The table shows how other rates do: one pass with standardized
scaling, {seeds} shuffles, all the sets above, texts as counts of words. The regret of a rate on a set is how
far it is behind the best rate of the grid on that same set, in percentage points: of accuracy on the sets
with two classes, of R² (`quantile`: of the absolute deviation explained) on the sets with numbers. Each cell
has the mean regret over the sets and the worst; "best" is the mean score of the best rate of each set.

{table}

- `modified_huber` and `hinge` do well from 0.3 to 0.9, `squared` and `quantile` from 0.6 to 3 if they predict
  numbers. As losses of classes these two would do better with 0.2 to 0.4 than with their defaults.
- `exponential` does well from 0.1 to 0.3; with `"normalized"` it would do better with 0.4 than with its 0.2.
- `logistic` needs about four times as much: its predictions are logits, which have farther to go than the
  margin of 1 of the others. `tanh_logarithmic` is `logistic` with the prediction halved, and half the rate
  makes the same steps.
- `hellinger` and `logarithmic` take the prediction itself as a probability. They start at its boundary, where
  the slope is enormous (10³ and 10⁶), and adaptive rates never forget that: only a huge learning rate
  compensates for it. Even so the best rates of `logarithmic` are 4 points behind those of `logistic`: use
  that, or `scaling="row_norm"`.
- `plain`, `row_norm` and `adaptive` are not scale-free, and no rate suits all data; their default is 0.4.
"""

if __name__ == "__main__":
    main()
