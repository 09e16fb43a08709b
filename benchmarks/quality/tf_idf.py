"""Rows of length 1, as tf-idf comes: one unit for all features, or a unit for each?

    STEELYARD_DATA=folder python -m benchmarks.quality.tf_idf --output docs/defaults.md

Texts as `TfidfVectorizer` would make them of their counts. One unit is the default there; beside it a unit
for each feature, which all other data have, and the peers with their defaults.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.quality import candidates, class_steps, untuned
from benchmarks.support import labelled, sections
from benchmarks.support.labelled import Problem
from steelyard.model import Settings

ONE, EACH = "steelyard", "steelyard, a unit for each feature"
PEERS = (untuned.VOWPAL, untuned.SGD, untuned.SVC)

Figures = NDArray[np.float64]  # for each of them: accuracy and F1 in per cent


@click.command()
@click.option("--seeds", default=3, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All texts by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    groups: dict[str, Iterable[Problem]] = {
        "the texts above": (each for each in map(labelled.load, only or labelled.names()) if each.text),
    }
    if not only:
        groups |= {
            f"{len(class_steps.TOPICS)} other topics of Reuters, 0.6 to 4 %": class_steps.reuters(),
            "20 single newsgroups, 3 to 5 %": class_steps.newsgroups(),
        }
    right, rare = [], []
    for title, problems in groups.items():
        found = []
        for problem in problems:
            found.append(measure(problem, seeds))
            click.echo(f"{problem.name}: {found[-1].round(2).tolist()}", err=True)
        means = np.mean(found, axis=0)
        label = f"{title} ({len(found)})"
        right.append([label, *(f"{each:.2f}" for each in means[:, 0])])
        rare.append([label, *(f"{each:.2f}" for each in means[:, 1])])
    who = [ONE, EACH, *PEERS]
    text = TEXT.format(
        seeds=seeds,
        accuracy=sections.table(["accuracy, mean over", *who], right),
        rare=sections.table(["F1 of the rarer class, mean over", *who], rare),
    )
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.quality.tf_idf", text)


def measure(problem: Problem, seeds: int) -> Figures:
    """Means over shuffles; a peer that is not installed has no figures."""
    problem = replace(problem, matrix=TfidfTransformer().fit_transform(problem.matrix).astype(np.float32))
    twice = replace(problem, matrix=2.0 * problem.matrix)
    peers = untuned.contenders(replace(problem, text=False))
    found = []
    for seed in range(seeds):
        train, test = problem.split(seed)
        settings = Settings(candidates.LOSS)
        ours = [candidates.learned(each, seed, settings) for each in (problem, twice)]
        theirs = [
            candidates.scores(problem, test, peers[who](train, test, seed)) if who in peers else (np.nan,) * 2
            for who in PEERS
        ]
        found.append([*ours, *theirs])
    means: Figures = 100.0 * np.mean(found, axis=0)
    return means


TEXT = """
## tf-idf, rows of length 1

The values of `TfidfVectorizer` say that a rare word counts for more than a common one, and a word of a short
text for more than one of a long text. A unit for each feature undoes that. So features of rows of length 1
have the unit 1 ([how they are recognised](estimators.md#the-default-scaling)). Beside it a unit for each
feature, which all other data have: the same rows, twice as long. Texts as tf-idf, one pass, mean of {seeds}
shuffles, peers as above (`python -m benchmarks.quality.tf_idf`).

{accuracy}

{rare}

Nothing was tuned for this: one unit is what words of files had before. Counts, whose rows have any length,
keep a unit for each feature; with one unit they would lose (16 topics of Reuters: F1 48 instead of 67).
"""

if __name__ == "__main__":
    main()
