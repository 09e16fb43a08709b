"""Screening: documents read until 95 % of the relevant ones are found, and until that is proved.

    STEELYARD_DATA=folder python -m benchmarks.screening --output docs/screening.md

ASReview is run by the command in ASREVIEW, by default `asreview`; without it its column is left out.
"""

import csv
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
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from benchmarks import reuters, sections
from benchmarks.reuters import Reuters
from steelyard import ActiveClassifier
from steelyard.active.stopping import Certified

TOPICS = {
    "Reuters-21578": ("ship", "gold", "cocoa", "nat-gas", "livestock", "corn", "soybean", "iron-steel"),
    "newsgroups": ("sci.space",),
}
PROVED = ("ship", "gold", "cocoa", "nat-gas", "livestock")
TARGETS = (0.8, 0.9, 0.95)
SHARE = 0.95
IRRELEVANT = 5  # documents that are known beforehand, beside one relevant one
EVERY = 10  # documents after which the logistic regression and ASReview are fitted anew
STOP = 2000  # documents that ASReview may read

ASREVIEW = "*ASReview* is version 3 with its default model, ELAS u4, fitted anew as often."
TEXT = """
## The figures

A rare topic among {rows}; mean of {shuffles} beginnings, with one relevant
document and {irrelevant} others known. In the first table: documents read until 95 % of the relevant ones
are found, and in parentheses WSS@95, the share of reading that is saved compared with a random order.
`relevance` is `ActiveClassifier(strategy="relevance", tfidf=True)`, its random picks included. *Logistic
regression* is that of scikit-learn, classes balanced, on tf-idf, the most probably relevant first, fitted
anew after every {every} documents. {asreview}

Target: on average no more documents than ASReview: {verdict}.

{table}

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
    help="Where ASReview's projects are kept; it does not run again where there is one.",
)
@click.option("--shuffles", default=1, show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(keep: Path, shuffles: int, output: Path | None) -> None:
    collections = {"Reuters-21578": reuters.load(), "newsgroups": reuters.load_newsgroups()}
    command = shutil.which(os.environ.get("ASREVIEW", "asreview"))
    table, proofs, totals = [], [], []
    for topic, data in ((topic, collections[name]) for name in TOPICS for topic in TOPICS[name]):
        labels = data.labels(topic)
        runs = []
        for seed in range(shuffles):
            known = prior(labels, seed)
            reads = [
                first(data, labels, known, seed), by_regression(data, labels, known),
                round(len(labels) * SHARE),
            ]  # fmt: skip
            if command:
                reads.append(asreview(command, data, topic, known, seed, keep))
            runs.append(reads)
            click.echo(f"{topic} {seed} {reads}", err=True)
        means = np.mean(runs, axis=0)
        totals.append(means)
        saved = [f"{round(SHARE - mean / len(labels), 3) + 0.0:.3f}" for mean in means]
        cells = [f"{mean:,.0f} ({wss})" for mean, wss in zip(means, saved, strict=True)]
        table.append([f"{topic} ({labels.sum()})", *cells])
        if topic not in PROVED:
            continue
        found = [prove(data, labels, prior(labels, 0), target) for target in TARGETS]
        proofs.append([topic, *(f"{read:,} ({recall:.3f})" for read, recall in found)])
        click.echo(f"{topic} {proofs[-1]}", err=True)
    heads = ["topic (relevant)", "`relevance`", "logistic regression", "random"]
    heads += ["ASReview"] if command else []
    mean = np.mean(totals, axis=0)
    table.append(["mean", *(f"{each:,.0f}" for each in mean)])
    verdict = "not measured"
    if command:
        verdict = "reached" if mean[0] <= mean[3] else "**missed**"
        fewer = sum(each[0] <= each[3] for each in totals)
        verdict += f", {mean[0]:,.0f} against {mean[3]:,.0f}; no more in {fewer} of {len(totals)} topics"
    text = TEXT.format(
        rows=" or ".join(f"{len(data.topics):,} documents of {name}" for name, data in collections.items()),
        shuffles=shuffles, irrelevant=IRRELEVANT, every=EVERY, verdict=verdict,
        asreview=ASREVIEW if command else "",
        table=sections.table(heads, table),
        proofs=sections.table(["topic", *(f"recall {target}" for target in TARGETS)], proofs),
    )  # fmt: skip
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.screening", text)


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
    """The place in ASReview's order of the document with which 95 % are found; its projects are kept."""
    labels, project = data.labels(topic), (folder / f"{topic}-{seed}.asreview").resolve()
    if not project.exists():
        with (folder / f"{topic}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["title", "abstract", "included"])
            writer.writerows(["", text, label] for text, label in zip(data.texts, labels, strict=True))
        how = ["--seed", str(seed), "--n-query", str(EVERY), "--n-stop", str(STOP), "--prior-idx"]
        subprocess.run(
            [command, "simulate", f"{topic}.csv", "-o", str(project), *how, *map(str, known)],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
    with (
        tempfile.TemporaryDirectory() as place,
        zipfile.ZipFile(project) as archive,
        closing(sqlite3.connect(archive.extract("results.db", place))) as results,
    ):
        order = [label for (label,) in results.execute("SELECT label FROM results ORDER BY rowid")]
    enough = np.cumsum(order) >= wanted(labels)
    return 1 + int(np.argmax(enough)) if enough.any() else len(labels)


if __name__ == "__main__":
    main()
