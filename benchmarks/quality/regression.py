"""How good is `OnlineRegressor()`? One pass, nothing tuned, beside the peers' defaults.

    STEELYARD_DATA=folder python -m benchmarks.quality.regression --output docs/defaults.md

Prints a table, and with `--output` puts it into its place on the page.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.quality.untuned import Rows, VowpalWabbit
from benchmarks.support import numeric, sections
from benchmarks.support.labelled import Problem
from steelyard import OnlineRegressor

# A peer counts as better on a set from this on.
NOTABLE = 0.02

Predictions = NDArray[np.float64]
Contender = Callable[[Problem, Rows, Rows, int], Predictions]

STEELYARD, VOWPAL, SGD, SCALED_SGD, RIDGE = (
    "steelyard", "Vowpal Wabbit", "SGDRegressor", "SGDRegressor, columns scaled", "Ridge",
)  # fmt: skip


@click.command()
@click.option("--seeds", default=3, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    scores = {}
    for name in only or numeric.names():
        scores[name] = measure(numeric.load(name), seeds)
        click.echo(f"{name}: {scores[name]}", err=True)
    click.echo(table(scores))
    if output is not None:
        text = TEXT.format(table=table(scores), seeds=seeds, verdicts=verdicts(scores), notable=NOTABLE)
        sections.write(output, "benchmarks.quality.regression", text)


def measure(problem: Problem, seeds: int) -> dict[str, float]:
    """R² on the test rows, the mean over the shuffles."""
    splits = [problem.split(seed) for seed in range(seeds)]
    return {
        who: float(
            np.mean(
                [
                    r2_score(problem.labels[test], predict(problem, train, test, seed))
                    for seed, (train, test) in enumerate(splits)
                ]
            )
        )
        for who, predict in contenders().items()
    }


def contenders() -> dict[str, Contender]:
    """Whoever is installed."""
    everyone: dict[str, Contender] = {
        STEELYARD: lambda *given: fitted(OnlineRegressor(passes=1, shuffle=False), *given[:3]),
        VOWPAL: lambda problem, train, test, _: VowpalWabbit(problem).predictions(train, test),
        SGD: lambda *given: fitted(sgd(given[3]), *given[:3]),
        SCALED_SGD: lambda *given: fitted(scaled(sgd(given[3])), *given[:3]),
        RIDGE: lambda *given: fitted(scaled(Ridge()), *given[:3]),
    }
    if find_spec("vowpalwabbit") is None:
        del everyone[VOWPAL]
    return everyone


def sgd(seed: int) -> SGDRegressor:
    """scikit-learn's gradient descent, its defaults but for the one pass."""
    return SGDRegressor(max_iter=1, tol=None, random_state=seed)


def scaled(regressor: Any) -> Any:
    """Behind a scaler, which can centre columns only in a dense matrix."""
    dense = FunctionTransformer(lambda matrix: matrix.toarray(), accept_sparse=True)
    return make_pipeline(dense, StandardScaler(), regressor)


def fitted(regressor: Any, problem: Problem, train: Rows, test: Rows) -> Predictions:
    regressor.fit(problem.matrix[train], problem.labels[train])
    predictions: Predictions = regressor.predict(problem.matrix[test])
    return predictions


def table(scores: dict[str, dict[str, float]]) -> str:
    rows = [[name, *map(cell, row.values())] for name, row in scores.items()]
    return sections.table(["data set", *next(iter(scores.values()))], rows)


def cell(score: float) -> str:
    """What is far below 0 needs no digits."""
    return f"{score:.3f}" if score > -10.0 else f"{score:.0e}"


def verdicts(scores: dict[str, dict[str, float]]) -> str:
    """Where each peer is better, and by how much."""
    lines = []
    for peer in list(next(iter(scores.values())))[1:]:
        ahead = {name: row[peer] - row[STEELYARD] for name, row in scores.items()}
        found = [f"{name} ({gap:.2f})" for name, gap in ahead.items() if gap >= NOTABLE]
        lines.append(f"- {peer}: {'; '.join(found) if found else 'nowhere'}.")
    return "\n".join(lines)


TEXT = """
## Regression

`OnlineRegressor()` and its peers with their defaults: R² on the test rows after **one pass**, the mean over
{seeds} shuffles (1 is perfect, 0 is as good as the mean of the test labels). Ridge, a batch solver on
columns scaled by `StandardScaler`, is the target.

{table}

- The sets called linear are scikit-learn's `make_regression`, with targets times a factor or plus an offset:
  for `OnlineRegressor` they are all the same problem.
- `prices` is Vowpal Wabbit's `0002.dat`: 800 rows to learn, in which most of the 288 features come three or
  four times. One pass is too few for them: `fit` makes three by default (R² 0.86), and 20 come to 0.90. In
  the real sets one column of numbers is predicted from all others, which are not scaled.
- Vowpal Wabbit: no options. It clips predictions to the range of the labels seen. SGDRegressor: its defaults
  with `max_iter=1`, on unscaled columns and behind a `StandardScaler`.
- Our scaling and learning rate (see below) were chosen by looking at these same sets. The peers' defaults
  were not.

Where a peer is better, by {notable} or more:

{verdicts}
"""

if __name__ == "__main__":
    main()
