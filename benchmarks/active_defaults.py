"""How good are labels that were asked for? Beside random ones and margin sampling, with the same learner.

    STEELYARD_DATA=folder python -m benchmarks.active_defaults --output docs/active.md

Every strategy gets the same number of labels of the same rows and hands them to the same learner, a refit
over several orders. Prints the test error in per cent, and with `--output` puts the table into its place on
the page.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks import labelled, sections
from steelyard import losses
from steelyard.active.engine import Engine
from steelyard.active.labelled import TRAINING_WEIGHTS, Labelled, Training
from steelyard.active.replay import replay
from steelyard.active.steering import Plan
from steelyard.examples import Examples, examples
from steelyard.learner import Learner
from steelyard.model import Model, Settings

SETS = ("rcv1-ccat", "arxiv-astro", "enron-spam", "url-spam")
SHARES = (0.01, 0.05, 0.1)
NOISES = (0.0, 0.2)
SETTINGS = Settings(losses.by_name("modified_huber"), follow_labels=False)
RANDOM, MARGIN = "random", "margin"

Labels = NDArray[np.float64]


@click.command()
@click.option("--seeds", default=3, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    errors: dict[tuple[str, float, int], dict[str, float]] = {}
    for name in only or SETS:
        problem = labelled.load(name)
        for noise in NOISES:
            for share in SHARES:
                runs = []
                for seed in range(seeds):
                    train, test = problem.split(seed)
                    wrong = np.random.default_rng(seed).random(len(train)) < noise
                    labels = np.where(wrong, -1.0, 1.0) * problem.labels[train]
                    rows, truth = examples(problem.matrix[test]), problem.labels[test]
                    models = contest(examples(problem.matrix[train]), labels, round(share * len(train)), seed)
                    runs.append({k: 100.0 * _error(m, rows, truth) for k, m in models.items()})
                key = name, noise, round(share * len(train))
                errors[key] = {k: float(np.mean([run[k] for run in runs])) for k in runs[0]}
                click.echo(f"{key} {errors[key]}", err=True)
    click.echo(table(errors))
    if output is not None:
        sections.write(output, "benchmarks.active_defaults", TEXT.format(table=table(errors), seeds=seeds))


def contest(rows: Examples, labels: Labels, budget: int, seed: int) -> dict[str, Model]:
    """The model of each strategy, after so many labels."""
    training = Training(seed=seed)
    models = {
        RANDOM: random_labels(rows, labels, budget, training),
        MARGIN: margin_labels(rows, labels, budget, training),
    }
    for weights in TRAINING_WEIGHTS:
        plan = Plan(budget=budget, expected=len(rows))
        engine = Engine(SETTINGS, rows.features, plan, Training(weights=weights, seed=seed))
        replay(engine, rows, lambda row: float(labels[row]))
        models[weights] = engine.model
    return models


def random_labels(rows: Examples, labels: Labels, budget: int, training: Training) -> Model:
    return _learned(rows, labels, np.arange(budget), training).final  # the rows come shuffled


def margin_labels(rows: Examples, labels: Labels, budget: int, training: Training) -> Model:
    """The whole pool is scored, and a tenth more of labels bought where the model is least sure."""
    chosen = np.arange(min(10, budget))
    while len(chosen) < budget:
        learned = _learned(rows, labels, chosen, training)
        distance = np.abs(Learner(model=learned.final).predict(rows))
        distance[chosen] = np.inf
        more = min(max(len(chosen) // 10, 1), budget - len(chosen))
        chosen = np.append(chosen, np.argsort(distance)[:more])
    return _learned(rows, labels, chosen, training).final


def _learned(rows: Examples, labels: Labels, chosen: NDArray[np.int64], training: Training) -> Labelled:
    learned = Labelled(SETTINGS, rows.features, training)
    for place, row in enumerate(chosen):
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        learned.rows.add(rows.indices[part].astype(np.int32), rows.values[part].astype(np.float64))
        learned.answer(place, labels[row], 1.0)
    return learned


def _error(model: Model, rows: Examples, truth: Labels) -> float:
    return float(np.mean((Learner(model=model).predict(rows) > 0.0) != (truth > 0.0)))


def table(errors: dict[tuple[str, float, int], dict[str, float]]) -> str:
    names = [RANDOM, MARGIN, *TRAINING_WEIGHTS]
    rows = [
        [f"{name}{f', {noise:.0%} of labels wrong' if noise else ''}", f"{labels:,}"]
        + [f"{found[each]:.2f}" for each in names]
        for (name, noise, labels), found in errors.items()
    ]
    means = [f"{np.mean([found[each] for found in errors.values()]):.2f}" for each in names]
    return sections.table(["set", "labels", *names], [*rows, ["mean", "", *means]])


TEXT = """
## Beside random labels and margin sampling

Test error in per cent, mean of {seeds} shuffles, with 1, 5 and 10 % of the labels of the rows to learn.
All five columns have the same learner, refitted over eight orders. `random`: labels of the first rows.
`margin`: the whole pool is scored for every tenth more of labels, and those bought of which the model is
least sure; no estimate can be made of such labels. The last three are `ActiveClassifier` with no parameter
but its budget, and one pass over the stream: `training_weight="none"`, the default, `"capped"` and
`"importance"`.

{table}
"""

if __name__ == "__main__":
    main()
