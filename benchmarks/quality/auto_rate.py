"""How near does `learning_rate="auto"` come to the best of a whole grid, and what does it cost?

    STEELYARD_DATA=folder python -m benchmarks.quality.auto_rate --output docs/auto-rate.md

Prints tables, and with `--output` writes the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from benchmarks.quality.untuned import Rows
from benchmarks.support import labelled, multiclass, numeric, sections, timing
from benchmarks.support.labelled import Problem
from steelyard import OnlineClassifier, OnlineRegressor, Settings
from steelyard.engine import auto_rate
from steelyard.engine.model_set import ModelSet
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.estimators.parameters import settings_of
from steelyard.examples import Examples, examples

AIM = 0.3  # points
NUMBERS, TWO, SEVERAL = "numbers", "two classes", "more than two classes"
KINDS = {TWO: labelled, SEVERAL: multiclass, NUMBERS: numeric}
# Multiples of the untuned rate, power_t and initial_t
GRID = [(2.0 ** (half / 2), 0.0, 1.0) for half in range(-10, 11)] + [
    (2.0**power, power_t, initial_t)
    for power_t in (0.1, 0.25, 0.5)
    for initial_t in (1.0, 100.0, 10_000.0)
    for power in range(-4, 7)
]


@dataclass(frozen=True)
class Figures:
    """Points of a hundred on the test rows; `progressive` is what the chosen model had on the way."""

    default: float
    auto: float
    grid: float
    best: float
    progressive: float
    cost: float


@click.command()
@click.option("--seeds", default=3, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    found: dict[str, dict[str, Figures]] = {kind: {} for kind in KINDS}
    for kind, sets in KINDS.items():
        for name in sets.names():
            if not only or name in only:
                found[kind][name] = measure(kind, sets.load(name), seeds)
                click.echo(f"{name}: {found[kind][name]}", err=True)
    for kind in KINDS:
        click.echo(table(kind, found[kind]))
    if output is not None:
        sections.write(output, "benchmarks.quality.auto_rate", page(found, seeds))


def measure(kind: str, problem: Problem, seeds: int) -> Figures:
    """The means over the shuffles; of the cost, the median."""
    default, auto = (estimator(kind, rate) for rate in (None, "auto"))
    rows = []
    for seed in range(seeds):
        train, test = problem.split(seed)
        matrix, labels = problem.matrix[train], problem.labels[train]

        def fit(which: Any, matrix: Any = matrix, labels: Any = labels) -> timing.Contender:
            return timing.clocked(str(which is auto), lambda: which.fit(matrix, labels))

        times = timing.alternate([fit(default), fit(auto)], repeats=3, warm_up=seed == 0)
        points_of_grid, losses = whole_grid(kind, problem, train, test)
        points = [
            100.0 * float(which.score(problem.matrix[test], problem.labels[test]))
            for which in (default, auto)
        ]
        error = 0.0 if kind == NUMBERS else auto.progressive_error_
        chosen = points_of_grid[int(np.nanargmin(losses))]
        ratio = timing.ratio(times, "False", "True")
        rows.append([*points, chosen, points_of_grid.max(), 100.0 - 100.0 * error, ratio])
    default_points, auto_points, by_loss, best, progressive, _ = np.mean(rows, axis=0).tolist()
    cost = float(np.median([row[-1] for row in rows]))
    return Figures(default_points, auto_points, by_loss, best, progressive, cost)


def estimator(kind: str, rate: str | None) -> Any:
    return (OnlineRegressor if kind == NUMBERS else OnlineClassifier)(
        learning_rate=rate, passes=1, shuffle=False
    )


def whole_grid(
    kind: str, problem: Problem, train: Rows, test: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of every setting the points on the test rows, and the progressive loss."""
    settings = grid(settings_of(estimator(kind, None), None)[0])
    learned, held = (examples(problem.matrix[rows], problem.labels[rows]) for rows in (train, test))
    if kind == SEVERAL:
        rest = OneVsRest(settings, int(problem.labels.max()) + 1, learned.features)
        rest.learn(learned)
        return 100.0 - 100.0 * rest.measure(held, np.arange(len(held)))[1] / len(held), rest.progressive_loss
    fleet = ModelSet(settings, learned.features)
    fleet.learn(learned)
    return points_of(kind, fleet, held), fleet.progressive_loss


def grid(untuned: Settings) -> list[Settings]:
    return [
        replace(untuned, learning_rate=factor * untuned.rate, power_t=power_t, initial_t=initial_t)
        for factor, power_t, initial_t in GRID
    ]


def points_of(kind: str, fleet: ModelSet, held: Examples) -> NDArray[np.float64]:
    if kind == TWO:
        return 100.0 - 100.0 * fleet.measure(held)[1] / len(held)
    return np.array([100.0 * r2_score(held.labels, column) for column in fleet.predict(held).T])


def table(kind: str, found: dict[str, Figures]) -> str:
    heads = ["data set", "default", "auto", "grid, by progressive loss", "grid, in hindsight"]
    heads += ["auto − grid", "auto − hindsight", "time"]
    if kind != NUMBERS:
        heads += ["progressive", "held-out − progressive"]
    rows = []
    for name, f in found.items():
        cells = [f"{x:.2f}" for x in (f.default, f.auto, f.grid, f.best)]
        cells += [f"{f.auto - f.grid:+.2f}", f"{f.auto - f.best:+.2f}", f"× {f.cost:.1f}"]
        if kind != NUMBERS:
            cells += [f"{f.progressive:.2f}", f"{f.auto - f.progressive:+.2f}"]
        rows.append([name, *cells])
    return sections.table(heads, rows)


def verdict(found: dict[str, Figures]) -> str:
    """Where it is not as near as it should be, and where it is worse than no choice at all."""

    def where(against: str) -> str:
        gaps = {name: getattr(f, against) - f.auto for name, f in found.items()}
        far = [f"{name} ({gap:.2f})" for name, gap in gaps.items() if gap > AIM]
        return f"{len(gaps) - len(far)} of {len(gaps)}" + (f"; not on {', '.join(far)}" if far else "")

    lines = [
        f"- within {AIM} of the grid's own choice by progressive loss: {where('grid')}",
        f"- within {AIM} of the best in hindsight: {where('best')}",
        f"- no more than {AIM} behind the default: {where('default')}",
    ]
    return "\n".join(lines)


def page(found: dict[str, dict[str, Figures]], seeds: int) -> str:
    parts = [TEXT.format(seeds=seeds, settings=len(GRID), rivals=len(auto_rate.MIXED))]
    for kind, figures in found.items():
        if figures:
            parts += [f"## {kind.capitalize()}", table(kind, figures), verdict(figures)]
    return "\n\n".join(part.strip() for part in parts)


TEXT = """
# The learning rate, chosen in one pass

`learning_rate="auto"` (`--learning-rate auto` on the command line) learns {rivals} models side by side in one
pass, with the default rate, half and twice that, and a quarter and four times that (with more than two
classes, with two thirds of these rates). All of them answer together, as one linear model: each counts by how
few wrong predictions it has made so far, or by its loss if numbers are predicted. This page shows how near
that comes to the best of a whole grid, after one pass; figures are means over {seeds} shuffles. The
[glossary](glossary.md) defines the terms.

- **default**, **auto**: accuracy on the test rows in per cent; 100 R² if numbers are predicted.
- **grid, by progressive loss**: the one with the least progressive loss among {settings} settings, from 1/32
  to 64 times the default rate, without decay and with nine kinds of it.
- **grid, in hindsight**: the best of these settings *on the test rows themselves*, for each shuffle. No
  method can choose it. With few test rows much of it is luck: breast cancer has 114 of them, iris 30, wine
  36, a pair of newsgroups 700 to 800.
- **time**: processor time of `fit` as a multiple of the default's, measured in turns; five calls of `fit`
  would be × 5. Models that learn side by side are stored in groups of sixteen: with two classes, or
  numbers, five cost as much time and memory as sixteen.
- **progressive**: the progressive accuracy of the best of the {rivals} alone. That it is the best makes it
  too high; the average over the whole pass, the beginning included, makes it too low, and so do test
  rows that are easier to predict than the training rows. It is also that of the coefficients of the moment,
  while the models predict with their averages, together. It is not an estimate of later accuracy: use
  held-out rows for that.

`python -m benchmarks.quality.auto_rate --output docs/auto-rate.md` writes this page, from the sets in the folder
named by `STEELYARD_DATA` and those that come with scikit-learn. The {rivals} rates were chosen by looking at
these same sets.
"""

if __name__ == "__main__":
    main()
