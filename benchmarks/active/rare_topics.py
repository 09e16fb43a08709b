"""Rare classes: F1 with few labels of a pool of texts, beside margin sampling with logistic regression.

STEELYARD_DATA=folder python -m benchmarks.active.rare_topics --output docs/active.md
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from benchmarks.support import reuters, sections
from benchmarks.support.reuters import Reuters
from steelyard import ActiveClassifier
from steelyard.active.pool_parts import pool_order

TOPICS = ("grain", "crude", "interest", "ship", "gold")
SHARES = (0.01, 0.05, 0.1)
FIRST = 10  # random labels before the logistic regression ranks the pool
WITHIN = 0.03
REFERENCE, OURS = "logistic regression, margin", "`margin`, balanced, tf-idf"
WAYS: dict[str, dict[str, Any]] = {
    OURS: {"strategy": "margin", "refit": "balanced", "tfidf": True},
    "`margin`": {"strategy": "margin"},
    "defaults": {},
}

TEXT = """
## Rare classes

F1 of a topic on the test documents of Reuters-21578, with 1, 5 and 10 % of the labels of its {rows:,}
training documents, mean of {shuffles} random beginnings, the same for all. The reference is margin sampling
with scikit-learn's logistic regression (its defaults) on tf-idf: {first} random labels, and more until both
classes are there, then the least certain documents, the model fitted anew whenever there are a tenth more
labels. The others are `ActiveClassifier` on counts of words: with `strategy="margin", refit="balanced",
tfidf=True`, with `strategy="margin"` alone, and with the defaults.

Target: the first of these is within {within:g} of the reference, or better, in each row: {verdict}.

{table}
"""


@click.command()
@click.option("--shuffles", default=2, show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(shuffles: int, output: Path | None) -> None:
    data = reuters.load()
    budgets = [round(share * len(data.topics)) for share in SHARES]
    table, worst = [], (np.inf, "")
    for topic in TOPICS:
        found: dict[str, list[list[float]]] = {name: [] for name in (REFERENCE, *WAYS)}
        for seed in range(shuffles):
            found[REFERENCE].append(list(reference(data, topic, budgets, seed)))
            for name, way in WAYS.items():
                found[name].append(list(ours(data, topic, budgets, seed, way)))
            click.echo(f"{topic} {seed} { ({name: runs[-1] for name, runs in found.items()}) }", err=True)
        means = {name: np.mean(runs, axis=0) for name, runs in found.items()}
        for at, budget in enumerate(budgets):
            where = f"{topic} ({data.labels(topic).mean():.1%})"
            table.append([where, f"{budget:,}", *(f"{mean[at]:.3f}" for mean in means.values())])
            worst = min(worst, (float(means[OURS][at] - means[REFERENCE][at]), f"{topic}, {budget} labels"))
    reached = "reached" if worst[0] >= -WITHIN else "**missed**"
    text = TEXT.format(
        rows=len(data.topics), shuffles=shuffles, first=FIRST, within=WITHIN,
        verdict=f"{reached}, at worst it is {worst[0]:+.3f} ({worst[1]})",
        table=sections.table(["topic", "labels", REFERENCE, *WAYS], table),
    )  # fmt: skip
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.active.rare_topics", text)


def ours(data: Reuters, topic: str, budgets: list[int], seed: int, way: dict[str, Any]) -> Iterator[float]:
    """A classifier that ranks the pool asks for the same first labels whatever its budget."""
    labels, truth = data.labels(topic), data.truth(topic)
    runs = [budgets] if way.get("strategy") == "margin" else [[budget] for budget in budgets]
    for run in runs:
        active = ActiveClassifier(classes=[0, 1], budget=run[-1], random_state=seed, **way).pool(data.pool)
        done = 0
        while (question := active.ask_next()) is not None:
            active.answer(question.id, int(labels[question.row]))
            if active.n_answered_ == run[done] and done < len(run) - 1:
                done += 1
                yield float(f1_score(truth, active.predict(data.test)))
        yield float(f1_score(truth, active.predict(data.test)))


def reference(data: Reuters, topic: str, budgets: list[int], seed: int) -> Iterator[float]:
    weighting = TfidfTransformer().fit(data.pool)
    pool, test = weighting.transform(data.pool), weighting.transform(data.test)
    labels, truth = data.labels(topic), data.truth(topic)
    order = pool_order(seed, [len(labels)])  # the same beginning
    asked = order[:FIRST].tolist()
    while True:
        fitted = LogisticRegression().fit(pool[asked], labels[asked]) if np.ptp(labels[asked]) else None
        if len(asked) in budgets:
            yield 0.0 if fitted is None else float(f1_score(truth, fitted.predict(test)))
        following = next((budget for budget in budgets if budget > len(asked)), None)
        if following is None:
            return
        if fitted is None:
            asked.append(int(order[len(asked)]))
            continue
        wanted = np.abs(fitted.decision_function(pool))
        wanted[asked] = np.inf
        count = min(max(1, len(asked) // 10), following - len(asked))
        asked += np.argsort(wanted, kind="stable")[:count].tolist()


if __name__ == "__main__":
    main()
