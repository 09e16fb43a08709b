"""A command for every file of the data folder: `python -m benchmarks.quality.data_folder` runs them.

It writes the results to docs/data-folder.md. The commands run in a shell, in a folder of their own, with
STEELYARD_DATA naming the data; `--only a9a` runs some of them and prints their figures.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import steelyard

PAGE = Path(__file__).parents[2] / "docs/data-folder.md"
_STEELYARD = 'steelyard() { "$PYTHON" -c "from steelyard.cli import main; main()" "$@"; }; set -o pipefail; '


@dataclass(frozen=True)
class Entry:
    """A title, a command that trains, perhaps one that evaluates, perhaps a remark."""

    title: str
    train: str
    evaluate: str = ""
    words: str = ""


def _amazon(domain: str) -> Entry:
    folder = "$STEELYARD_DATA/amazon-reviews"
    return Entry(
        f"amazon-reviews, {domain}",
        f"steelyard train {folder}/{domain}_train.svmlight.gz -o {domain}.model",
        f"steelyard evaluate {domain}.model {folder}/{domain}_test.svmlight.gz",
    )


def _review(name: str, words: str = "") -> Entry:
    return Entry(f"reviews, {name}", f"steelyard train $STEELYARD_DATA/reviews/{name}.csv.xz", words=words)


_NEWSGROUPS = "$STEELYARD_DATA/newsgroups.tsv.xz"
_NEWSGROUPS_TRAIN = f"xzcat {_NEWSGROUPS} | grep ^train | shuf --random-source={_NEWSGROUPS}"
_NEWSGROUPS_TEST = f"xzcat {_NEWSGROUPS} | grep ^test"
_REUTERS = "xzcat $STEELYARD_DATA/reuters21578-{}.tsv.xz"
_ONE_TOPIC = f"{_REUTERS} | grep -v '^[a-z-]*,'"
_GRAIN = f"{_REUTERS} | sed -E 's/^([a-z,-]*,)?grain(,[a-z,-]*)?\\t/grain\\t/'"

ENTRIES = (
    Entry(
        "a9a",
        "steelyard train $STEELYARD_DATA/a9a.gz -o a9a.model",
        "steelyard evaluate a9a.model $STEELYARD_DATA/a9a.t.gz",
        "The format, svmlight, is detected from the content, since the name does not say; "
        "so are the labels 0 and 1.",
    ),
    Entry(
        "w8a, as it is",
        "steelyard train $STEELYARD_DATA/w8a.gz",
        "",
        "The file is sorted by label, and the summary says so: the average loss means nothing.",
    ),
    Entry(
        "w8a, shuffled",
        "zcat $STEELYARD_DATA/w8a.gz | shuf --random-source=$STEELYARD_DATA/w8a.gz | steelyard train -",
        "",
        "The compressed bytes serve as random ones, so the order is the same every time.",
    ),
    Entry(
        "rcv1-ccat",
        "steelyard train $STEELYARD_DATA/rcv1-ccat.svm.xz",
    ),
    Entry(
        "adult",
        "steelyard train $STEELYARD_DATA/adult.data.gz --weight 3 --weight-factor 5e-6 -o adult.model",
        "steelyard evaluate adult.model $STEELYARD_DATA/adult.test.gz "
        "--labels '<=50K.,>50K.' --on-error skip",
        "There is no header, so columns are named by number; the label, the last one, is detected. Column 3 "
        "is a survey weight of 190,000 on average. Without the factor they would be brought to about 1, "
        "with much the same result; learned as 190,000 copies at once (`--weight-scale as_given`), the model "
        "would be worse than a constant (0.4533). The test file begins with "
        "a line that is not a row, and its labels end in a full stop.",
    ),
    Entry(
        "census-income",
        "steelyard train $STEELYARD_DATA/census-income.gz --weight 25 --weight-factor 6e-4",
        "",
        "A survey weight again, 1,700 on average.",
    ),
    Entry(
        "credit-costs",
        "steelyard train $STEELYARD_DATA/credit-costs.csv.gz",
        "",
        "In this loss a linear model of these raw numbers is no better than a constant, and while it learns "
        "it is worse.",
    ),
    *(_amazon(domain) for domain in ("books", "dvd", "electronics", "kitchen")),
    Entry(
        "amazon-reviews, all domains",
        'steelyard train "$STEELYARD_DATA/amazon-reviews/*_train.svmlight.gz" -o reviews.model',
        'steelyard evaluate reviews.model "$STEELYARD_DATA/amazon-reviews/*_test.svmlight.gz"',
        "A pattern stands for all files that match it, in alphabetical order.",
    ),
    Entry(
        "open-bandit, random",
        "steelyard train $STEELYARD_DATA/open-bandit/random_men.csv.gz --propensity propensity_score "
        "--weight-factor 0.03 --category position -o random.model",
        "steelyard evaluate random.model $STEELYARD_DATA/open-bandit/bts_men.csv.gz",
        "The model learns what was shown at random, and is tested on what a policy chose to show. Rows of "
        "both are weighted by 1/propensity, about 34; the factor brings that down to 1. One row in 200 is a "
        "click, and the model does not beat the best constant; without the factor the loss would be 0.0252.",
    ),
    Entry(
        "open-bandit, policy",
        "steelyard train $STEELYARD_DATA/open-bandit/bts_men.csv.gz --propensity propensity_score "
        "--weight-factor 0.03 --category position -o policy.model",
        "steelyard evaluate policy.model $STEELYARD_DATA/open-bandit/random_men.csv.gz",
    ),
    Entry(
        "arxiv-astro",
        "steelyard train $STEELYARD_DATA/arxiv-astro.tsv.xz",
        "",
        "Words of the title and words of the abstract are different features.",
    ),
    Entry(
        "enron-spam",
        "steelyard train $STEELYARD_DATA/enron-spam.tsv.xz",
        "",
        "The rows are in the order of their dates, with long runs of spam or of none: "
        "the average loss is too good.",
    ),
    Entry(
        "sms-spam",
        "steelyard train $STEELYARD_DATA/sms-spam.tsv.xz",
    ),
    Entry(
        "url-spam",
        "steelyard train $STEELYARD_DATA/url-spam.tsv.xz --ignore kind --words 0 --characters 3",
        "",
        "`kind` repeats the label in other words, which cannot be detected: it must be ignored.",
    ),
    Entry(
        "newsgroups, all twenty groups",
        f"{_NEWSGROUPS_TRAIN} | steelyard train - --format tsv --no-header --label 2 --ignore 1 "
        "-o groups.model",
        f"{_NEWSGROUPS_TEST} | steelyard evaluate groups.model -",
        "Twenty classes. The file is sorted by group, so its rows are shuffled; its first column says which "
        "rows are for testing. Standard input can be read only once, so the classes are those of the first "
        "1,000 rows.",
    ),
    Entry(
        "newsgroups, one group",
        f"{_NEWSGROUPS_TRAIN} | steelyard train - --format tsv --no-header --label 2 --labels '*,sci.space' "
        "--ignore 1 -o space.model",
        f"{_NEWSGROUPS_TEST} | steelyard evaluate space.model -",
        "One group against all others.",
    ),
    Entry(
        "reuters21578, ten topics",
        f"{_ONE_TOPIC.format('train')} | steelyard train - --format tsv "
        "--labels '*,earn,acq,crude,trade,money-fx,interest,money-supply,ship,sugar,coffee' -o topics.model",
        f"{_ONE_TOPIC.format('test')} | steelyard evaluate topics.model -",
        "The rows with one topic or none; `grep` leaves out those with several, which have a comma. The ten "
        "most frequent topics are classes, and `*` is the class of all others.",
    ),
    Entry(
        "reuters21578, grain",
        f"{_GRAIN.format('train')} | steelyard train - --format tsv --labels '*,grain' -o grain.model",
        f"{_GRAIN.format('test')} | steelyard evaluate grain.model -",
        "One row in 22 has this topic, alone or among others; `sed` makes it the label of all these rows. "
        "`evaluate` also prints precision and recall of each class: for grain they are 0.94 and 0.79.",
    ),
    _review(
        "ADHD",
        "Titles and abstracts of a systematic review, of which few are relevant. What such files are for is "
        "[screening](screening.md): finding the relevant ones without reading all.",
    ),
    *map(
        _review,
        ("BetaBlockers", "CalciumChannelBlockers", "Kitchenham", "SkeletalMuscleRelaxants", "Triptans"),
    ),
    Entry("vw/0001", "steelyard train $STEELYARD_DATA/vw/0001.dat"),
    Entry(
        "vw/0002",
        "steelyard train $STEELYARD_DATA/vw/0002.dat",
        "",
        "The labels are numbers of many values, so the loss is squared.",
    ),
    Entry(
        "vw/rcv1_small",
        "steelyard train $STEELYARD_DATA/vw/rcv1_small.dat -o rcv1.model",
        "steelyard evaluate rcv1.model $STEELYARD_DATA/vw/rcv1_small_test.data",
    ),
)

INTRODUCTION = """\
# The data folder, a command each

A command for each file in the folder named by `STEELYARD_DATA`, and its results.
`python -m benchmarks.quality.data_folder` ran these commands and wrote this page. What the commands do not say is
detected: format, columns, classes, loss (`modified_huber` for classes, `squared` for numbers). Everything
else is left at its default: one pass, nothing tuned.

*Average loss* is the progressive loss: predictions are made before their row is learned. *Constant* is the
loss of the best constant prediction, which a model should beat. The last columns are from the file that the
second command evaluates. *Macro F1* is the mean of the F1 of the classes that occur there.
The [glossary](glossary.md) defines the terms, [files.md](files.md) how files are read.

"""


def figures(entry: Entry, folder: Path) -> dict[str, Any]:
    """The results of the commands, run in this folder."""
    found = {"train": _run(entry.train, folder)}
    if entry.evaluate:
        found["evaluate"] = _run(entry.evaluate, folder)
    return found


def _run(line: str, folder: Path) -> dict[str, Any]:
    """The line, with this Python and this code."""
    places = {
        "PYTHON": sys.executable,
        "PYTHONPATH": str(Path(steelyard.__file__).resolve().parents[1]),
        "STEELYARD_DATA": str(Path(os.environ["STEELYARD_DATA"]).resolve()),
    }
    done = subprocess.run(
        ["bash", "-c", f"{_STEELYARD}{line} --json"],
        cwd=folder,
        env=os.environ | places,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{line}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def page(found: dict[str, dict[str, Any]]) -> str:
    """The whole page, from the figures by title."""
    rows = [
        "| data | rows | average loss | constant | test rows | accuracy | area under ROC | macro F1 |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    sections = []
    for entry in ENTRIES:
        rows.append(_row(entry, found[entry.title]))
        lines = "\n".join(line for line in (entry.train, entry.evaluate) if line)
        words = f"\n{entry.words}\n" if entry.words else ""
        sections.append(f"## {entry.title}\n\n```sh\n{lines}\n```\n{words}")
    return INTRODUCTION + "\n".join(rows) + "\n\n" + "\n".join(sections)


def _row(entry: Entry, found: dict[str, Any]) -> str:
    trained, tested = found["train"], found.get("evaluate")
    cells = [
        entry.title,
        f"{trained['examples']:,}",
        f"{trained['progressive_loss']:.4f}",
        f"{trained['best_constant_loss']:.4f}",
    ]
    if tested is None:
        cells += ["", "", "", ""]
    else:
        area = f"{tested['auc']:.4f}" if "auc" in tested else ""  # of two classes only
        cells += [f"{tested['examples']:,}", f"{tested['accuracy']:.4f}", area, f"{tested['macro_f1']:.4f}"]
    return f"| {' | '.join(cells)} |".replace("|  ", "| ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the entries whose title has this in it, and print their figures")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for entry in ENTRIES:
            if given.only is None or given.only in entry.title:
                found[entry.title] = figures(entry, Path(folder))
                sys.stdout.write(_row(entry, found[entry.title]) + "\n")
                sys.stdout.flush()
    if given.only is None:
        given.output.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
