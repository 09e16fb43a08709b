"""Weights that are no counts: survey weights, weights that sum to 1, and weights with a heavy tail.

STEELYARD_DATA=folder python -m benchmarks.quality.odd_weights --output docs/odd-weights.md
"""

import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

from benchmarks.quality import probabilities, scaled_peer, untuned
from benchmarks.support import labelled, sections
from benchmarks.support.labelled import Problem
from steelyard import OnlineClassifier, WeightWarning

_PACKAGES = {"scikit-learn": "sklearn", "vowpalwabbit": "vowpalwabbit"}

STEELYARD, AS_GIVEN = "steelyard", "steelyard, as_given"
VOWPAL_LOGISTIC, VOWPAL = "Vowpal Wabbit, logistic", "Vowpal Wabbit, default"
SGD, BATCH = "SGDClassifier", scaled_peer.NAME
ONE_PASS = (VOWPAL_LOGISTIC, VOWPAL)
PEERS = (*ONE_PASS, SGD, BATCH)

TAIL, LARGEST = 1.2, 1e4
TEXT = ("sms-spam", "newsgroups, religion")
SURVEYS = ("census-income, raw numbers", "adult, raw numbers")

Column = NDArray[np.float64]
# What a contender knows of the test rows: probabilities, and numbers by which they are ranked.
Answer = tuple[Column | None, Column]
# For each case and contender: weighted log loss and area under the ROC curve of every seed, two columns.
Scores = dict[str, dict[str, Column]]


@dataclass(frozen=True)
class Case:
    """A problem whose rows have weights."""

    name: str
    load: Callable[[], Problem]


def cases() -> list[Case]:
    found = [Case(f"{name}, survey weights", lambda name=name: labelled.load(name)) for name in SURVEYS]  # type: ignore[misc]
    for name in TEXT:
        found.append(Case(f"{name}, Pareto", lambda name=name: weighted(name, pareto)))  # type: ignore[misc]
        found.append(Case(f"{name}, sum 1", lambda name=name: weighted(name, sum_to_one)))  # type: ignore[misc]
    return found


def weighted(name: str, draw: Callable[[int], Column]) -> Problem:
    problem = labelled.load(name)
    return replace(problem, weights=draw(len(problem.labels)))


def pareto(rows: int) -> Column:
    """P(w > x) = x^−1.2 from 1 on, cut off at ten thousand."""
    return np.minimum(np.random.default_rng(0).pareto(TAIL, rows) + 1.0, LARGEST)


def sum_to_one(rows: int) -> Column:
    return np.full(rows, 1.0 / rows)


@click.command()
@click.option("--seeds", default=3, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A case; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the page here.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    scores: Scores = {}
    for case in cases():
        if not only or case.name in only:
            scores[case.name] = measure(case.load(), seeds)
            shown = (f"{who} {cell(found)}" for who, found in scores[case.name].items())
            click.echo(f"{case.name}: " + ", ".join(shown), err=True)
    click.echo(table(scores))
    if output is not None:
        sections.write(output, "benchmarks.quality.odd_weights", page(scores, seeds))


def measure(problem: Problem, seeds: int) -> dict[str, Column]:
    assert problem.weights is not None
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        train, test = problem.split(seed)
        positive, weights = problem.labels[test] > 0.0, problem.weights[test]
        for who, (chances, ranks) in answers(problem, train, test).items():
            loss = np.nan if chances is None else probabilities.log_loss(chances, positive, weights)
            area = float(roc_auc_score(positive, ranks, sample_weight=weights))
            found.setdefault(who, []).append((loss, area))
    measured = {who: np.array(rows) for who, rows in found.items()}
    for who, model in ((SGD, SGDClassifier("log_loss", random_state=0)), (BATCH, None)):
        measured[who] = scaled_peer.best(lambda peer: measure_peer(problem, seeds, peer), model)
    return measured


def measure_peer(problem: Problem, seeds: int, model: Any) -> Column:
    assert problem.weights is not None
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a solver that stops before it has converged
        for train, test in (problem.split(seed) for seed in range(seeds)):
            given = {f"{model.steps[-1][0]}__sample_weight": problem.weights[train]}
            model.fit(problem.matrix[train], problem.labels[train], **given)
            chances = model.predict_proba(problem.matrix[test])[:, 1]
            ranks = model.decision_function(problem.matrix[test])
            positive, weights = problem.labels[test] > 0.0, problem.weights[test]
            area = float(roc_auc_score(positive, ranks, sample_weight=weights))
            rows.append((probabilities.log_loss(chances, positive, weights), area))
    return np.array(rows)


def answers(problem: Problem, train: untuned.Rows, test: untuned.Rows) -> dict[str, Answer]:
    """Those that learn in one pass, on the same rows, weights and order."""
    assert problem.weights is not None
    models = {
        STEELYARD: OnlineClassifier(passes=1, shuffle=False),
        AS_GIVEN: OnlineClassifier(weight_scale="as_given", passes=1, shuffle=False),
    }
    found: dict[str, Answer] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightWarning)
        for who, model in models.items():
            model.fit(problem.matrix[train], problem.labels[train], sample_weight=problem.weights[train])
            chances = model.predict_proba(problem.matrix[test])[:, 1]
            found[who] = chances, model.decision_function(problem.matrix[test])
    if find_spec("vowpalwabbit") is not None:
        vowpal = WeightedVowpal(problem)
        ranks = vowpal.predictions(train, test, "--loss_function", "logistic")
        found[VOWPAL_LOGISTIC] = 1.0 / (1.0 + np.exp(-ranks)), ranks
        found[VOWPAL] = None, vowpal.predictions(train, test)
    return found


class WeightedVowpal(untuned.VowpalWabbit):
    """Vowpal Wabbit, with the weights as its importance weights."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.weights is not None
        self.lines = [
            line.replace(b" | ", b" %.9g | " % weight, 1)
            for line, weight in zip(self.lines, problem.weights.tolist(), strict=True)
        ]

    def predictions(self, train: untuned.Rows, test: untuned.Rows, *options: str) -> Column:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self._run(folder, train, "-f", str(folder / "model"), *options)
            found = folder / "answers"
            self._run(folder, test, "-t", "-i", str(folder / "model"), "-p", str(found))
            return np.loadtxt(found)


def table(scores: Scores) -> str:
    names = list(dict.fromkeys(who for row in scores.values() for who in row))
    return sections.table(
        ["weights", *names], [[name, *(cell(row[who]) for who in names)] for name, row in scores.items()]
    )


def cell(found: Column) -> str:
    loss, area = found.mean(axis=0)
    return f"{'–' if np.isnan(loss) else f'{loss:.4f}'} ({area:.4f})"


def page(scores: Scores, seeds: int) -> str:
    method = METHOD.format(
        seeds=seeds, share=f"{labelled.TEST_SHARE:.0%}", tail=TAIL, largest=f"{LARGEST:,.0f}",
        peer=scaled_peer.METHOD, scalers=scaled_peer.SCALERS,
        versions=", ".join(f"{name} {version(name)}" for name in _PACKAGES if find_spec(_PACKAGES[name])),
    )  # fmt: skip
    return "\n\n".join(part.strip() for part in (INTRODUCTION, table(scores), method, verdicts(scores)))


def verdicts(scores: Scores) -> str:
    """Where a peer is better, in either figure."""
    lines = ["## Where a peer is better", ""]
    for peer in PEERS:
        behind = []
        for name, row in scores.items():
            if peer in row:
                ahead = row[peer] - row[STEELYARD]
                (loss, area), (_, spread) = ahead.mean(axis=0), ahead.std(axis=0)
                behind += [f"{name} (log loss {loss:+.4f})"] if loss < 0.0 else []
                behind += [f"{name} (area {area:+.4f} ± {spread:.4f})"] if area > 0.0 else []
        lines.append(f"- {peer}: {', '.join(behind) or 'nowhere'}.")
    return "\n".join([*lines, "", REASON.strip()])


INTRODUCTION = """
# Weights that are not counts

A weight of h means exactly h copies. Survey weights (a row represents 1,740 people, or 190,000), weights that
were made to sum to 1, and weights with a heavy tail are something else: learned as copies, the first two
swamp or starve the learner. By default (`weight_scale="auto"`), weights of 100 rows or more whose median and
mean are both below 1/8 or both above 16 are brought nearer to 1, with a warning; all others are left alone.
Let w be the less absurd of median and mean: above 16 it becomes 16²/w, so 17 becomes 15 and 64 becomes 4,
and from 256 on it becomes 1; likewise below 1/8. So nearly the same weights lead to nearly the same model.
With `weight_scale="as_given"`, all weights are left alone.

The table has the weighted log loss on test rows, and in parentheses the weighted area under the ROC curve,
nothing tuned. steelyard and Vowpal Wabbit learn in **one pass**; SGDClassifier and LogisticRegression scale
the columns first and go over the rows until they have converged.
`python -m benchmarks.quality.odd_weights --output docs/odd-weights.md` wrote this page, from the data sets in the
folder named by `STEELYARD_DATA`.
"""

METHOD = """
## How it was measured

- {seeds} shuffles; all learners get the same rows in the same order, and the weights as they are. Test rows
  are the set's own, or the last {share} after shuffling, and have their weights too. Of surveys all columns
  are features, numbers unscaled. *Pareto*: P(w > x) = x^−{tail} from 1 on, cut off at {largest}, drawn
  without regard to the rows; a handful of rows then has much of the weight, and figures are rough.
- Vowpal Wabbit: importance weights, no options but the loss; its default, squared loss, has no probabilities.
- SGDClassifier: `log_loss`, its defaults, so many passes until the loss no longer falls: {scalers}
- {peer}
- For surveys in files, `steelyard train` finds the factor from the first 1,000 rows, and keeps it.
- {versions}.
"""

REASON = """
± is the spread over the shuffles. With Pareto weights a few heavy test rows make up much of the
area, so differences below that spread mean little.
"""

if __name__ == "__main__":
    main()
