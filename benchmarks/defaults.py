"""How good are the defaults? One pass, nothing tuned, beside the peers' defaults, on real data.

    STEELYARD_DATA=folder python -m benchmarks.defaults --output docs/defaults.md

Prints a table, and with `--output` puts it and what belongs to it into their place on the page.
"""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks import labelled, sections, untuned
from benchmarks.untuned import SGD, STEELYARD, SVC, VOWPAL
from steelyard import OnlineClassifier, losses

# A peer counts as better on a set from this many points on.
NOTABLE = 0.3

# For each set and contender, the test accuracy in per cent for every seed.
Scores = dict[str, dict[str, NDArray[np.float64]]]

_PACKAGES = {VOWPAL: "vowpalwabbit", SGD: "scikit-learn", SVC: "scikit-learn"}


@click.command()
@click.option("--seeds", default=5, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the page here.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    scores: Scores = {}
    for name in only or labelled.names():
        scores[name] = measure(labelled.load(name), seeds)
        click.echo(f"{name}: " + ", ".join(f"{who} {cell(s)}" for who, s in scores[name].items()), err=True)
    click.echo(table(scores))
    if output is not None:
        sections.write(output, "benchmarks.defaults", page(scores, seeds))


def measure(problem: labelled.Problem, seeds: int) -> dict[str, NDArray[np.float64]]:
    """Everyone on the same rows in the same order, seed by seed."""
    splits = [problem.split(seed) for seed in range(seeds)]
    return {
        who: np.array([100.0 * contender(*split, seed) for seed, split in enumerate(splits)])
        for who, contender in ((who, make(problem)) for who, make in untuned.contenders().items())
    }


def table(scores: Scores) -> str:
    """Markdown: accuracies with their spread; and how far we are ahead of Vowpal Wabbit, seed by seed."""
    names = list(next(iter(scores.values())))
    heads = ["data set", *names] + (["ahead of Vowpal Wabbit"] if VOWPAL in names else [])
    rows = [[name, *map(cell, row.values()), *lead(row)] for name, row in scores.items()]
    rows.append(["**mean**", *(f"{mean(scores, who):.2f}" for who in names), *mean_lead(scores)])
    return sections.table(heads, rows)


def cell(accuracies: NDArray[np.float64]) -> str:
    return f"{accuracies.mean():.2f} ± {accuracies.std():.2f}"


def lead(row: dict[str, NDArray[np.float64]]) -> list[str]:
    return [cell_with_sign(row[STEELYARD] - row[VOWPAL])] if VOWPAL in row else []


def cell_with_sign(differences: NDArray[np.float64]) -> str:
    return f"{differences.mean():+.2f} ± {differences.std():.2f}"


def mean(scores: Scores, who: str) -> float:
    return float(np.mean([row[who].mean() for row in scores.values()]))


def mean_lead(scores: Scores) -> list[str]:
    measured = all(VOWPAL in row for row in scores.values())
    return [f"{mean(scores, STEELYARD) - mean(scores, VOWPAL):+.2f}"] if measured else []


def page(scores: Scores, seeds: int) -> str:
    peers = [who for who in next(iter(scores.values())) if who != STEELYARD]
    parts = [
        INTRODUCTION.format(settings=settings()),
        table(scores),
        how(peers, seeds),
        verdicts(scores, peers),
    ]
    return "\n\n".join(part.strip() for part in parts)


def settings() -> str:
    chosen = OnlineClassifier().get_params()
    chosen["learning_rate"] = losses.by_name(chosen["loss"]).default_learning_rate
    shown = ("loss", "update", "scaling", "learning_rate", "power_t", "passes")
    return ", ".join(f"`{name}={chosen[name]!r}`" for name in shown)


def how(peers: list[str], seeds: int) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in sorted({_PACKAGES[who] for who in peers}))
    missing = "" if VOWPAL in peers else "\n- Vowpal Wabbit was not installed, so its columns are missing."
    return METHOD.format(
        seeds=seeds, share=f"{labelled.TEST_SHARE:.0%}", c=", ".join(map(str, untuned.SVC_SETTINGS)),
        versions=versions, missing=missing,
    )  # fmt: skip


def verdicts(scores: Scores, peers: list[str]) -> str:
    """Where each peer is better, and by how much."""
    lines = [
        "## Where a peer is better",
        "",
        f"By {NOTABLE} points or more, on average over the shuffles:",
        "",
    ]
    for peer in peers:
        ahead = {name: float((row[peer] - row[STEELYARD]).mean()) for name, row in scores.items()}
        found = [f"{name} ({gap:.2f})" for name, gap in ahead.items() if gap >= NOTABLE]
        lines.append(f"- {peer}: {', '.join(found) if found else 'nowhere'}.")
    return "\n".join(lines)


INTRODUCTION = """
# How good are the defaults?

`OnlineClassifier()` and its peers with their defaults: test accuracy in per cent after **one pass**, the mean
over shuffles ± their standard deviation. LinearSVC is an exception: it is a batch solver with many passes
and a tuned C, shown as the target. Our defaults are
{settings}.
`python -m benchmarks.defaults --output docs/defaults.md` wrote this part of the page, from the data sets in
the folder named by `STEELYARD_DATA` and those that come with scikit-learn; `--seeds` sets the number of
shuffles. `benchmarks.regression` and `benchmarks.rates` wrote the parts below.
"""

METHOD = """
## How it was measured

- There are {seeds} shuffles by seed. Sets with test rows of their own keep them, and the shuffle decides only
  the order of learning; of the other sets the last {share} after shuffling are the test rows. All learners
  get the same rows in the same order; SGDClassifier shuffles them once more, as is its default.
- Text is counts of the words `[a-z0-9]+` of the lower-cased text; URLs are counts of three characters in a
  row; rcv1-ccat is tf-idf, unit vectors. "Raw numbers" are columns such as age and capital gain, unscaled,
  and one column for each category. Survey weights are not used.
- `newsgroups, comp` is `comp.*` against all other groups; the other three are pairs of groups. `digits` is
  5 to 9 against 0 to 4.
- Vowpal Wabbit: no options (squared loss, adaptive and normalised rates). SGDClassifier: its defaults (hinge
  loss) with `max_iter=1`. LinearSVC: the best C of {c}, chosen on the test rows themselves, which makes its
  figures too good.
- The spread of a few shuffles is itself uncertain, especially on sets with few test rows (breast cancer has
  114).
- Our lead is to be read with care: our loss and learning rate were chosen by looking at these very sets, test
  rows included. The peers' defaults were not.
- {versions}.{missing}
"""

if __name__ == "__main__":
    main()
