"""What longer steps for a rare class are worth: with and without them, on sets of all kinds.

    STEELYARD_DATA=folder python -m benchmarks.quality.class_steps --output docs/defaults.md

The factor was chosen by looking at the sets of `benchmarks.quality.defaults`. Two further groups were not used for
choosing: topics of Reuters-21578 that are not among those sets, and single newsgroups against all others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.quality import candidates, untuned
from benchmarks.support import labelled, sections
from benchmarks.support.labelled import Problem
from steelyard.model import Settings

TOPICS = (
    "trade", "interest", "wheat", "corn", "sugar", "coffee", "gold", "gnp", "money-supply", "cocoa",
    "oilseed", "nat-gas", "veg-oil", "livestock", "dlr", "bop", "cpi",
)  # fmt: skip
WAYS = (Settings(candidates.LOSS, follow_classes=False), Settings(candidates.LOSS))

# For each way: accuracy and F1 in per cent
Figures = NDArray[np.float64]


@click.command()
@click.option("--seeds", default=9, show_default=True, help="Shuffles to average over.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(seeds: int, output: Path | None) -> None:
    rows = []
    for title, problems in (
        ("the sets above", map(labelled.load, labelled.names())),
        (f"{len(TOPICS)} other topics of Reuters, 0.6 to 4 %", reuters()),
        ("20 single newsgroups, 3 to 5 %", newsgroups()),
    ):
        counts, texts = [], []
        for problem in problems:
            counts.append(measure(problem, seeds))
            if problem.text:
                texts.append(
                    measure(replace(problem, matrix=untuned.log_rows(problem)), seeds, one_unit=True)
                )
            click.echo(f"{problem.name}: {counts[-1].round(2).tolist()}", err=True)
        rows += [row(f"{title}, as counts", counts), row(f"{title}, from the text", texts)]
    heads = ["mean over", "sets", "accuracy, before", "now", "F1, before", "now", "F1 better on"]
    text = TEXT.format(seeds=seeds, table=sections.table(heads, rows))
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.quality.class_steps", text)


def measure(problem: Problem, seeds: int, *, one_unit: bool = False) -> Figures:
    return 100.0 * np.array(
        [
            np.mean([candidates.learned(problem, seed, way, one_unit) for seed in range(seeds)], axis=0)
            for way in WAYS
        ]
    )


def row(title: str, found: Sequence[Figures]) -> list[str]:
    means = np.mean(found, axis=0)
    better = sum(figures[1, 1] > figures[0, 1] for figures in found)
    cells = [f"{figure:.2f}" for figure in means.T.ravel()]
    return [title, str(len(found)), *cells, f"{better} of {len(found)}"]


def reuters() -> Iterator[Problem]:
    whole = labelled.load("reuters, earn")
    parts = [list(labelled.table(f"reuters21578-{part}.tsv.xz")) for part in ("train", "test")]
    topics = [row["topics"].split(",") for part in parts for row in part]
    for topic in TOPICS:
        yield replace(whole, name=topic, labels=np.array([1.0 if topic in each else -1.0 for each in topics]))


def newsgroups() -> Iterator[Problem]:
    whole = labelled.load("newsgroups, space")
    rows = sorted(labelled.table("newsgroups.tsv.xz"), key=lambda row: row["split"] == "test")
    for group in sorted({row["group"] for row in rows}):
        labels = np.array([1.0 if row["group"] == group else -1.0 for row in rows])
        yield replace(whole, name=group, labels=labels)


TEXT = """
## Longer steps for a rare class

The learning rate is divided by the standard deviation of the labels so far (−1 and 1; a little is added):
by 1 where both classes are equally frequent, by 0.47 where one has 5 %, and never by less than 0.2.
Adaptive rates make each step as long as the learning rate says; but where a class is rare, its examples
have farther to go, since the model predicts the other one of everything at first. "Before" is without that,
with the rate that was the default then, 0.6 instead of 0.4. Means over {seeds} shuffles, in per cent, one
pass (`python -m benchmarks.quality.class_steps`). Factor and rate were chosen by looking at the sets above. The
topics and groups of the other rows were looked at once, when the factor got its limit, and chose nothing
else; that two rows of each class are presumed, and not one, was settled by the sets above (`sci.space` is
in both).

{table}

How it was found: rates from 0.2 to 1.3 on each set. Where classes are equally frequent, 0.2 to 0.4 did best
on amazon-reviews, rcv1-ccat and three pairs of newsgroups (enron-spam, url-spam and digits hardly cared);
those with a class of 6 % or less did best with 0.6 to 1.3, most of all by F1. Factors by the mean squared
gradient, or by the share of rows that are learned, did less well. With classes thinned out to 1 % and 0.1 %,
rates beyond four or five times the default gained nothing more, hence the limit.
"""

if __name__ == "__main__":
    main()
