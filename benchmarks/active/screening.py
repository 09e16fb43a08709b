"""Screening: documents read until 95 % of the relevant ones are found, and until that is proved.

    STEELYARD_DATA=folder python -m benchmarks.active.screening --output docs/screening.md
    STEELYARD_DATA=folder python -m benchmarks.active.screening --proofs --output docs/screening.md

ASReview is run by the command in ASREVIEW, by default `asreview`; without it its column is left out.
"""

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from benchmarks.support import reuters, sections
from benchmarks.support.reuters import Reuters
from steelyard import ActiveClassifier
from steelyard.active.stopping import Certified

REUTERS, NEWSGROUPS = "Reuters-21578", "newsgroups"
TOPICS = {
    REUTERS: (
        "ship", "gold", "cocoa", "nat-gas", "livestock", "corn", "soybean", "iron-steel",
        "money-fx", "grain", "crude", "trade", "interest", "sorghum", "retail", "silver", "zinc", "pet-chem",
    ),
    NEWSGROUPS: ("sci.space",),
}  # fmt: skip
"""None was used to choose what ranks; the other topics of Reuters with at least 20 relevant documents, and
less than a tenth of all, were."""
PROVED = ("ship", "gold", "cocoa", "nat-gas", "livestock")
TARGETS = (0.8, 0.9, 0.95)
SHARE = 0.95
IRRELEVANT = 5  # documents that are known beforehand, beside one relevant one
EVERY = 10  # documents after which the logistic regression and ASReview are fitted anew
STOP = 500  # documents that ASReview reads at first, beside as many as are relevant

ASREVIEW = "*ASReview* is version 3 with its default model, ELAS u4, fitted anew as often."
TEXT = """
## The figures

A rare topic among {rows}; mean of {shuffles} beginnings, with one relevant
document and {irrelevant} others known. In the first table: documents read until 95 % of the relevant ones
are found, and in parentheses WSS@95, the share of reading that is saved compared with a random order.
`relevance` is `ActiveClassifier(strategy="relevance", tfidf=True)`, its random picks included. *Logistic
regression* is that of scikit-learn, classes balanced, on tf-idf, the most probably relevant first, fitted
anew after every {every} documents. {asreview}

Target: on average no more documents than ASReview: {verdict}

{table}
"""
PROOFS = """
On Reuters-21578, documents read until recall is *proved* by `ask_next(stop=Certified("recall", target))`,
with α = 0.05 for all attempts, of which the first has half; in parentheses the recall that was reached.

{proofs}
"""


@click.command()
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=".",
    show_default=True,
    help="Where figures and ASReview's projects are kept; what is there is not measured again.",
)
@click.option("--shuffles", default=3, show_default=True)
@click.option("--proofs", is_flag=True, help="Measure the second table instead.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(keep: Path, shuffles: int, proofs: bool, output: Path | None) -> None:
    collections = {REUTERS: reuters.load(), NEWSGROUPS: reuters.load_newsgroups()}
    if proofs:
        name, text = "benchmarks.active.screening --proofs", proved(collections[REUTERS])
    else:
        name, text = "benchmarks.active.screening", measured(collections, keep, shuffles)
    click.echo(text)
    if output is not None:
        sections.write(output, name, text)


def measured(collections: dict[str, Reuters], keep: Path, shuffles: int) -> str:
    command = shutil.which(os.environ.get("ASREVIEW", "asreview"))
    table, totals = [], []
    for topic, data in ((topic, collections[name]) for name in TOPICS for topic in TOPICS[name]):
        labels = data.labels(topic)
        runs = [documents_read(data, topic, seed, command, keep) for seed in range(shuffles)]
        means = np.mean(runs, axis=0)
        totals.append(means)
        saved = [f"{round(SHARE - mean / len(labels), 3) + 0.0:.3f}" for mean in means]
        cells = [f"{mean:,.0f} ({wss})" for mean, wss in zip(means, saved, strict=True)]
        table.append([f"{topic} ({labels.sum()})", *cells])
    heads = ["topic (relevant)", "`relevance`", "logistic regression", "random"]
    heads += ["ASReview"] if command else []
    table.append(["mean", *(f"{each:,.0f}" for each in np.mean(totals, axis=0))])
    ours, theirs = np.array(totals)[:, [0, -1]].T
    return TEXT.format(
        rows=" or ".join(f"{len(data.topics):,} documents of {name}" for name, data in collections.items()),
        shuffles=shuffles, irrelevant=IRRELEVANT, every=EVERY,
        verdict=verdict(ours, theirs) if command else "not measured.",
        asreview=ASREVIEW if command else "",
        table=sections.table(heads, table),
    )  # fmt: skip


def verdict(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> str:
    """Of documents by topic; with what tells whether the difference is more than chance."""
    reached = "reached" if ours.mean() <= theirs.mean() else "**missed**"
    fewer, more = int((ours < theirs).sum()), int((ours > theirs).sum())
    chance = stats.binomtest(fewer, fewer + more).pvalue if fewer + more else 1.0
    low, high = stats.ttest_rel(ours, theirs).confidence_interval()
    ratios = stats.ttest_1samp(np.log(ours / theirs), 0.0).confidence_interval()
    return (
        f"{reached}, {ours.mean():,.0f} against {theirs.mean():,.0f}. Fewer in {fewer} of {len(ours)} topics "
        f"and more in {more} (tossed coins are as far from a tie in {chance:.0%} of cases). The difference "
        f"is {(ours - theirs).mean():+,.0f} documents a topic, with a 95 % interval from {low:+,.0f} to "
        f"{high:+,.0f} for other topics like these; the ratio of documents is "
        f"{np.exp(np.log(ours / theirs).mean()):.2f} on (geometric) average, from {np.exp(ratios.low):.2f} "
        f"to {np.exp(ratios.high):.2f}. (Intervals are those of Student's t over topics.)"
    )


def documents_read(data: Reuters, topic: str, seed: int, command: str | None, keep: Path) -> list[int]:
    """By each of the columns. A run takes many minutes: its figures are kept, so that it can continue."""
    labels, file = data.labels(topic), keep / f"{topic}-{seed}.json"
    if file.exists():
        reads: list[int] = json.loads(file.read_text())
    else:
        known = prior(labels, seed)
        reads = [
            first(data, labels, known, seed), by_regression(data, labels, known), round(len(labels) * SHARE)
        ]  # fmt: skip
        file.write_text(json.dumps(reads))
    if command:
        reads.append(asreview(command, data, topic, prior(labels, seed), seed, keep))
    click.echo(f"{topic} {seed} {reads}", err=True)
    return reads


def proved(data: Reuters) -> str:
    table = []
    for topic in PROVED:
        labels = data.labels(topic)
        found = [prove(data, labels, prior(labels, 0), target) for target in TARGETS]
        table.append([topic, *(f"{read:,} ({recall:.3f})" for read, recall in found)])
        click.echo(f"{table[-1]}", err=True)
    return PROOFS.format(proofs=sections.table(["topic", *(f"recall {target}" for target in TARGETS)], table))


def prior(labels: NDArray[np.int64], seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    relevant, others = (rng.permutation(np.flatnonzero(labels == each)) for each in (1, 0))
    return [int(relevant[0]), *others[:IRRELEVANT].tolist()]


def wanted(labels: NDArray[np.int64]) -> int:
    return int(np.ceil(SHARE * labels.sum()))


def first(data: Reuters, labels: NDArray[np.int64], known: list[int], seed: int) -> int:
    active = ActiveClassifier(
        classes=[0, 1], strategy="relevance", rate=1.0, tfidf=True, random_state=seed
    ).pool(data.pool)
    active.teach(known, labels[known])
    found, read = 1, len(known)
    while found < wanted(labels) and (question := active.ask_next()) is not None:
        active.answer(question.id, int(labels[question.row]))
        found, read = found + int(labels[question.row]), read + 1
    return read


def prove(data: Reuters, labels: NDArray[np.int64], known: list[int], target: float) -> tuple[int, float]:
    active = ActiveClassifier(classes=[0, 1], strategy="relevance", rate=1.0, tfidf=True).pool(data.pool)
    active.teach(known, labels[known])
    read = list(known)
    while (question := active.ask_next(stop=Certified("recall", target))) is not None:
        active.answer(question.id, int(labels[question.row]))
        read.append(question.row)
    return len(read), float(labels[read].sum() / labels.sum())


def by_regression(data: Reuters, labels: NDArray[np.int64], known: list[int]) -> int:
    pool = TfidfTransformer().fit_transform(data.pool)
    read = list(known)
    while True:
        fitted = LogisticRegression(class_weight="balanced").fit(pool[read], labels[read])
        scores = fitted.decision_function(pool)
        scores[read] = -np.inf
        for row in np.argsort(-scores, kind="stable")[:EVERY].tolist():
            read.append(row)
            if labels[read].sum() >= wanted(labels):
                return len(read)


def asreview(command: str, data: Reuters, topic: str, known: list[int], seed: int, folder: Path) -> int:
    """The place in ASReview's order of the document with which 95 % are found; its projects are kept.

    Where it stops makes no difference to the order, so it reads on only where that was too early.
    """
    labels, project = data.labels(topic), (folder / f"{topic}-{seed}.asreview").resolve()
    most = int(labels.sum()) + STOP
    while True:
        if not project.exists():
            simulate(command, data, topic, project, ["--seed", str(seed), "--n-stop", str(most)], known)
        enough = np.cumsum(reading_order(project)) >= wanted(labels)
        if enough.any():
            return 1 + int(np.argmax(enough))
        most = 2 * len(enough)
        project.unlink()


def simulate(
    command: str, data: Reuters, topic: str, project: Path, how: list[str], known: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        with (Path(place) / "documents.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["title", "abstract", "included"])
            labels = data.labels(topic)
            writer.writerows(["", text, label] for text, label in zip(data.texts, labels, strict=True))
        given = [*how, "--n-query", str(EVERY), "--prior-idx", *map(str, known)]
        subprocess.run(
            [command, "simulate", "documents.csv", "-o", "project.asreview", *given],
            cwd=place, check=True, capture_output=True,
        )  # fmt: skip
        shutil.move(Path(place) / "project.asreview", project)


def reading_order(project: Path) -> list[int]:
    """The labels of the documents that ASReview has read."""
    with (
        tempfile.TemporaryDirectory() as place,
        zipfile.ZipFile(project) as archive,
        closing(sqlite3.connect(archive.extract("results.db", place))) as results,
    ):
        return [label for (label,) in results.execute("SELECT label FROM results ORDER BY rowid")]


if __name__ == "__main__":
    main()
