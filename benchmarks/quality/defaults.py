"""How good are the defaults? One pass, nothing tuned, beside the peers' defaults, on real data.

    STEELYARD_DATA=folder python -m benchmarks.quality.defaults --output docs/defaults.md

Prints a table, and with `--output` puts it and what belongs to it into their place on the page.
"""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.quality import candidates, untuned
from benchmarks.quality.untuned import FROM_TEXT, LOG_COUNTS, SGD, STEELYARD, SVC, VOWPAL, VOWPAL_WORDS
from benchmarks.support import labelled, sections
from steelyard import OnlineClassifier, losses
from steelyard.model import Settings

# A peer counts as better on a set from this many points on: of accuracy, of F1.
NOTABLE, NOTABLE_F1 = 0.3, 2.0

# For each set and contender, a figure in per cent for every seed.
Scores = dict[str, dict[str, NDArray[np.float64]]]

_PACKAGES = {
    VOWPAL: "vowpalwabbit", VOWPAL_WORDS: "vowpalwabbit", SGD: "scikit-learn", SVC: "scikit-learn",
}  # fmt: skip
_COUNTS_ONLY = "–"  # in the columns of texts, where a set has none


@click.command()
@click.option("--seeds", default=5, show_default=True, help="Shuffles to average over.")
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the page here.")
def main(seeds: int, only: Sequence[str], output: Path | None) -> None:
    accuracy: Scores = {}
    f1: Scores = {}
    tried: candidates.Found = {}
    shares = {}
    for name in only or labelled.names():
        problem = labelled.load(name)
        accuracy[name], f1[name] = measure(problem, seeds)
        tried[name] = candidates.measure(problem, seeds)
        shares[name] = rarer_share(problem)
        click.echo(f"{name}: " + ", ".join(f"{who} {cell(s)}" for who, s in accuracy[name].items()), err=True)
    click.echo(table(accuracy))
    click.echo(table(f1, shares))
    click.echo(candidates.text(tried))
    if output is not None:
        sections.write(output, "benchmarks.quality.defaults", page(accuracy, f1, shares, tried, seeds))


def measure(
    problem: labelled.Problem, seeds: int
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    """Accuracy and F1: everyone on the same rows in the same order, seed by seed."""
    splits = [problem.split(seed) for seed in range(seeds)]
    found = {
        who: 100.0
        * np.array(
            [
                candidates.scores(problem, split[1], contender(*split, seed))
                for seed, split in enumerate(splits)
            ]
        )
        for who, contender in untuned.contenders(problem).items()
    }
    return {who: each[:, 0] for who, each in found.items()}, {who: each[:, 1] for who, each in found.items()}


def rarer_share(problem: labelled.Problem) -> float:
    """Of the rarer class, among all rows."""
    positive = float(np.mean(problem.labels > 0.0))
    return min(positive, 1.0 - positive)


def columns(scores: Scores) -> list[str]:
    """All contenders, those of texts included, in the order of a set that has all."""
    return max((list(row) for row in scores.values()), key=len)


def table(scores: Scores, shares: dict[str, float] | None = None) -> str:
    """Markdown: figures with their spread; and how far we are ahead of Vowpal Wabbit, seed by seed."""
    names = columns(scores)
    texts = [name for name, row in scores.items() if len(row) == len(names)]
    heads = ["data set", *(["share of the class"] if shares else []), *names]
    heads += ["ahead of Vowpal Wabbit"] if VOWPAL in names else []
    rows = []
    for name, row in scores.items():
        cells = [cell(row[who]) if who in row else _COUNTS_ONLY for who in names]
        rows.append([name, *([f"{shares[name]:.1%}"] if shares else []), *cells, *lead([row])])
    for title, some in (("mean", list(scores)), ("mean of the texts", texts)):
        kept = [scores[name] for name in some]
        means = [mean(kept, who) for who in names]
        rows.append([f"**{title}**", *([""] if shares else []), *means, *lead(kept)])
    return sections.table(heads, rows)


def cell(figures: NDArray[np.float64]) -> str:
    return f"{figures.mean():.2f} ± {figures.std():.2f}"


def lead(rows: list[dict[str, NDArray[np.float64]]]) -> list[str]:
    """Both given counts. Of several sets the mean alone."""
    if not all(VOWPAL in row for row in rows):
        return []
    differences = [row[STEELYARD] - row[VOWPAL] for row in rows]
    spread = f" ± {differences[0].std():.2f}" if len(rows) == 1 else ""
    return [f"{np.mean(differences):+.2f}{spread}"]


def mean(rows: list[dict[str, NDArray[np.float64]]], who: str) -> str:
    """Of all sets, or nothing: the mean of some of them cannot be compared."""
    if not rows or any(who not in row for row in rows):
        return _COUNTS_ONLY
    return f"{np.mean([row[who].mean() for row in rows]):.2f}"


def page(accuracy: Scores, f1: Scores, shares: dict[str, float], tried: candidates.Found, seeds: int) -> str:
    parts = [
        INTRODUCTION.format(settings=settings()),
        "## Accuracy\n\n" + table(accuracy),
        "## F1 of the rarer class\n" + F1 + "\n" + table(f1, shares),
        verdicts(accuracy, f1),
        ADVICE,
        how(columns(accuracy), seeds),
        candidates.text(tried),
    ]
    return "\n\n".join(part.strip() for part in parts if part)


def settings() -> str:
    chosen = OnlineClassifier(passes=1, shuffle=False).get_params()
    usual = Settings(losses.by_name(chosen["loss"]))
    chosen |= {"learning_rate": round(usual.rate, 6), "average": usual.average_power}
    shown = ("loss", "update", "scaling", "learning_rate", "power_t", "average", "passes")
    return ", ".join(f"`{name}={chosen[name]!r}`" for name in shown)


def how(contenders: list[str], seeds: int) -> str:
    packages = sorted({_PACKAGES[who] for who in contenders if who in _PACKAGES})
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    missing = (
        "" if VOWPAL in contenders else "\n- Vowpal Wabbit was not installed, so its columns are missing."
    )
    return METHOD.format(
        seeds=seeds, share=f"{labelled.TEST_SHARE:.0%}", c=", ".join(map(str, untuned.SVC_SETTINGS)),
        versions=versions, missing=missing,
    )  # fmt: skip


def verdicts(accuracy: Scores, f1: Scores) -> str:
    """Where each peer is better, and by how much."""
    pairs = [(STEELYARD, peer) for peer in (VOWPAL, VOWPAL_WORDS, SGD, SVC)]
    pairs += [(ours, peer) for ours in (LOG_COUNTS, FROM_TEXT) for peer in (VOWPAL_WORDS, SVC)]
    parts = ["## Where a peer is better", ""]
    for what, scores, notable in (("accuracy", accuracy, NOTABLE), ("F1", f1, NOTABLE_F1)):
        parts += [f"By {notable:g} points of {what} or more, on average over the shuffles:", ""]
        for ours, peer in pairs:
            rows = {name: row for name, row in scores.items() if ours in row and peer in row}
            ahead = {name: float((row[peer] - row[ours]).mean()) for name, row in rows.items()}
            found = [f"{name} ({gap:.2f})" for name, gap in ahead.items() if gap >= notable]
            if rows:
                parts.append(f"- {peer}, against *{ours}*: {', '.join(found) if found else 'nowhere'}.")
        parts.append("")
    return "\n".join(parts)


INTRODUCTION = """
# How good are the defaults?

`OnlineClassifier()` and its peers with their defaults: accuracy on the test rows, and F1 of the rarer class,
in per cent after **one pass**, the mean over shuffles ± their standard deviation. LinearSVC is an exception:
it is a batch solver with many passes and a tuned C, shown as the target. Our defaults are
{settings}.
`python -m benchmarks.quality.defaults --output docs/defaults.md` wrote this part of the page, from the data sets in
the folder named by `STEELYARD_DATA` and those that come with scikit-learn; `--seeds` sets the number of
shuffles. `benchmarks.quality.regression` and `benchmarks.quality.rates` wrote the parts below.
"""

F1 = """
Accuracy says little where a class is rare: who never predicts it has an accuracy of one minus its share.
"""

ADVICE = """
What to do about it:

- **Words from `CountVectorizer`**: learn from the file instead (`fit_files`), or put
  `TfidfVectorizer(use_idf=False, sublinear_tf=True)` in its place. Counts make too much of a word that is
  repeated. Where a class is very rare, logarithms alone may cost F1 (reuters, ship and grain); learning from
  the file hardly does.
"""

METHOD = """
## How it was measured

- There are {seeds} shuffles by seed. Sets with test rows of their own keep them, and the shuffle decides only
  the order of learning; of the other sets the last {share} after shuffling are the test rows. All learners
  get the same rows in the same order; SGDClassifier shuffles them once more, as is its default.
- Text is counts of the words `[a-z0-9]+` of the lower-cased text; URLs are counts of three characters in a
  row; rcv1-ccat is tf-idf, unit vectors. "Raw numbers" are columns such as age and capital gain, unscaled,
  and one column for each category. Survey weights are not used.
- `newsgroups, comp` is `comp.*` against all other groups, `newsgroups, space` is `sci.space` against all
  others; the other three are pairs of groups. The sets of `reuters` are one topic of Reuters-21578 against
  all other news. `digits` is 5 to 9 against 0 to 4.
- All but LinearSVC make one pass. By default `fit` makes three over up to 20,000 rows, which is better still
  (see [several passes](#several-passes)).
- Everybody gets counts, but for three columns, which exist for texts only. "steelyard, log counts" gets what
  `TfidfVectorizer(use_idf=False, sublinear_tf=True)` makes of the texts: 1 + log of the count, divided by the
  length of the text. "steelyard, from the text" is what `steelyard train` and `fit_files` make of a file with
  that text: the same, with one unit for all words ([files.md](files.md)). (One column of text, that is; files
  with title and abstract apart keep their words apart.) "Vowpal Wabbit, word by word" is how it is mostly
  given texts: every occurrence of a word is a feature. The last column compares the two that get counts.
- Vowpal Wabbit: no options (squared loss, adaptive and normalised rates). SGDClassifier: its defaults (hinge
  loss) with `max_iter=1`. LinearSVC: the best C of {c}, chosen by the accuracy on the test rows themselves,
  which makes its figures too good. It learns sets with test rows of their own once: their order does not
  matter to it.
- The spread of a few shuffles is itself uncertain, especially on sets with few test rows (breast cancer has
  114).
- Our lead is to be read with care: our loss, scaling, average and learning rate were chosen by looking at
  these very sets, test rows included. The peers' defaults were not. See the end of this part.
- {versions}.{missing}
"""

if __name__ == "__main__":
    main()
