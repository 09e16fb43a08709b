"""Several classes: accuracy with few labels of a pool, beside margin sampling with logistic regression.

STEELYARD_DATA=folder python -m benchmarks.active.classes --output docs/active.md
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from benchmarks.support import multiclass, reuters, sections
from steelyard import ActiveClassifier
from steelyard.active.pool_parts import pool_order

SHARES = (0.01, 0.05, 0.1)
FIRST = 10  # random labels before the logistic regression ranks the pool, as for our margin sampling
TOPICS = 10
REFERENCE = "logistic regression, margin"
WAYS: dict[str, dict[str, Any]] = {
    "`random`": {"strategy": "random"},
    "`iwal`": {},
    "`margin`": {"strategy": "margin"},
    "`random`, tf-idf": {"strategy": "random", "tfidf": True},
    "`iwal`, tf-idf": {"tfidf": True},
    "`margin`, tf-idf": {"strategy": "margin", "tfidf": True},
}

TEXT = """
### How good it is

Accuracy in per cent on the test documents, with 1, 5 and 10 % of the labels of the training documents, mean
of so many *runs* with random beginnings, the same for all. *reuters* are documents with one topic, the
{topics} most frequent of which are the classes, from {least} documents to {most}; *newsgroups* has its seven
fields as classes, or all its twenty groups. The reference is margin sampling with scikit-learn's logistic
regression (multinomial, its defaults) on tf-idf: {first} random labels, then the documents whose two
likeliest classes are closest, the model fitted anew whenever there are a tenth more labels. The others are
`ActiveClassifier` on counts of words, with or without `tfidf=True`; `iwal` is its default.

{table}

Compared with random labels for the same learner, `iwal` is {against}.
Beside the reference, `margin` on tf-idf is {beside}.
"""


class Classes(NamedTuple):
    """Documents as counts of words: a pool and a test set, with the classes of both."""

    name: str
    pool: sparse.csr_matrix
    labels: NDArray[np.int64]
    test: sparse.csr_matrix
    truth: NDArray[np.int64]


Accuracies = dict[str, list[list[float]]]
"""Of each way: of each random beginning, by the number of labels."""


@click.command()
@click.option("--shuffles", default=2, show_default=True)
@click.option("--only", multiple=True, help="A data set; may be repeated. All of them by default.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(shuffles: int, only: tuple[str, ...], output: Path | None) -> None:
    found = {}
    for data in sets():
        if not only or data.name in only:
            found[data.name, len(data.labels)] = study(data, shuffles)
    text = page(found)
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.active.classes", text)


def study(data: Classes, shuffles: int) -> Accuracies:
    budgets = _budgets(len(data.labels))
    found: Accuracies = {name: [] for name in (REFERENCE, *WAYS)}
    for seed in range(shuffles):
        found[REFERENCE].append(list(reference(data, budgets, seed)))
        for name, way in WAYS.items():
            found[name].append(list(ours(data, budgets, seed, way)))
        click.echo(f"{data.name!r}, {seed}: { ({name: runs[-1] for name, runs in found.items()}) }", err=True)
    return found


def page(found: dict[tuple[str, int], Accuracies]) -> str:
    """By the name of the set and the number of its documents."""
    table: list[list[str]] = []
    default: list[float] = []
    margin: list[float] = []
    for (name, rows), runs in found.items():
        means = {way: np.mean(own, axis=0) for way, own in runs.items()}
        for at, budget in enumerate(_budgets(rows)):
            table.append(
                [
                    name,
                    f"{budget:,}",
                    f"{len(runs[REFERENCE])}",
                    *(f"{mean[at]:.1f}" for mean in means.values()),
                ]
            )
        for words in ("", ", tf-idf"):
            default.extend(means[f"`iwal`{words}"] - means[f"`random`{words}"])
        margin.extend(means["`margin`, tf-idf"] - means[REFERENCE])
    counts = np.bincount(topics().labels)
    return TEXT.format(
        topics=TOPICS, least=counts.min(), most=f"{counts.max():,}",
        first=FIRST, table=sections.table(["set", "labels", "runs", REFERENCE, *WAYS], table),
        against=_range(default), beside=_range(margin),
    )  # fmt: skip


def _budgets(rows: int) -> list[int]:
    return [round(share * rows) for share in SHARES]


def _range(differences: list[float]) -> str:
    low, high = min(differences), max(differences)
    return f"{low:+.1f} to {high:+.1f} points ahead, {np.mean(differences):+.1f} on average"


def sets() -> Iterator[Classes]:
    yield topics()
    for name in ("newsgroups, seven fields", "newsgroups, all twenty"):
        problem = multiclass.load(name)
        first, codes = len(problem.labels) - problem.own_test, problem.labels.astype(np.int64)
        matrix = problem.matrix.astype(np.float64)
        yield Classes(name, matrix[:first], codes[:first], matrix[first:], codes[first:])


def topics() -> Classes:
    data = reuters.load()
    own = [[min(each) if len(each) == 1 else "" for each in part] for part in (data.topics, data.test_topics)]
    count = Counter(topic for topic in own[0] if topic not in ("", "none"))
    names = [topic for topic, _ in count.most_common(TOPICS)]
    codes = [np.array([names.index(topic) if topic in names else -1 for topic in part]) for part in own]
    rows = [np.flatnonzero(part >= 0) for part in codes]
    return Classes(
        "reuters, ten topics", data.pool[rows[0]], codes[0][rows[0]], data.test[rows[1]], codes[1][rows[1]]
    )


def ours(data: Classes, budgets: list[int], seed: int, way: dict[str, Any]) -> Iterator[float]:
    """A classifier that ranks the pool asks for the same first labels whatever its budget."""
    classes = np.unique(data.labels).tolist()
    for run in [budgets] if way.get("strategy") == "margin" else [[budget] for budget in budgets]:
        active = ActiveClassifier(classes=classes, budget=run[-1], random_state=seed, **way).pool(data.pool)
        while (question := active.ask_next()) is not None:
            active.answer(question.id, int(data.labels[question.row]))
            if active.n_answered_ in run[:-1]:
                yield 100.0 * float(np.mean(active.predict(data.test) == data.truth))
        yield 100.0 * float(np.mean(active.predict(data.test) == data.truth))


def reference(data: Classes, budgets: list[int], seed: int) -> Iterator[float]:
    weighting = TfidfTransformer().fit(data.pool)
    pool, test, labels = weighting.transform(data.pool), weighting.transform(data.test), data.labels
    asked = pool_order(seed, [len(labels)])[:FIRST].tolist()  # the same beginning
    while True:
        fitted = LogisticRegression().fit(pool[asked], labels[asked])
        if len(asked) in budgets:
            yield 100.0 * float(np.mean(fitted.predict(test) == data.truth))
        following = next((budget for budget in budgets if budget > len(asked)), None)
        if following is None:
            return
        chances = np.sort(fitted.predict_proba(pool), axis=1)
        gaps = chances[:, -1] - chances[:, -2]
        gaps[asked] = np.inf
        count = min(max(1, len(asked) // 10), following - len(asked))
        asked += np.argsort(gaps, kind="stable")[:count].tolist()


if __name__ == "__main__":
    main()
