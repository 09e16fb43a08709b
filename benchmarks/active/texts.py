"""Texts, with a rare class or without: the defaults of the page beside those of `ActiveClassifier`.

STEELYARD_DATA=folder python -m benchmarks.active.texts --output docs/active.md
"""

from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.metrics import f1_score

from benchmarks.support import labelled, sections
from benchmarks.support.labelled import Problem
from steelyard import ActiveClassifier

SETS = (
    "reuters, ship", "reuters, grain", "newsgroups, space", "sms-spam", "arxiv-astro", "reuters, earn",
    "newsgroups, religion", "enron-spam", "newsgroups, hardware", "amazon-reviews",
)  # fmt: skip
SHARES = (0.01, 0.05, 0.1)
FEWEST, MOST = 20, 10_000  # labels; rows of a pool and of a test set
AUDITED = 0.1  # of the labels
TEXTS = {"strategy": "margin", "refit": "balanced", "tfidf": True}
WAYS: dict[str, dict[str, Any]] = {"defaults": {}, "texts": TEXTS | {"audit": AUDITED}, "no audit": TEXTS}

TEXT = """
## Texts

What is the best choice for texts, if nobody knows how rare the classes are? *texts* is `strategy="margin",
refit="balanced", tfidf=True` with a tenth of the labels for an audit, as on the page; *no audit* is the same
without; *defaults* are those of `ActiveClassifier`. With 1, 5 and 10 % of the labels of at most {most:,}
rows: F1 of the rarer class (its share is in parentheses) and error in per cent on test rows, and the upper
end of the 95 % interval of the present model's error. Means of {shuffles} shuffles.

On average *texts* has an F1 of {f1[1]:.3f} where the defaults have {f1[0]:.3f} on the {rare} sets whose rarer
class has at most {limit:.0%} of the rows; on the others the error is {error[1]:.1f} % and {error[0]:.1f} %.

{table}
"""
RARE = 0.15


@click.command()
@click.option("--shuffles", default=2, show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(shuffles: int, output: Path | None) -> None:
    table, rare = [], 0
    f1: list[list[float]] = []
    error: list[list[float]] = []
    for name in SETS:
        problem = labelled.load(name)
        share = min((problem.labels > 0).mean(), (problem.labels <= 0).mean())
        rare += share <= RARE
        for part in SHARES:
            found = np.mean([list(measure(problem, part, seed)) for seed in range(shuffles)], axis=0)
            labels, *figures = found.T.tolist()
            (f1 if share <= RARE else error).append(figures[0 if share <= RARE else 1])
            cells = [
                *(f"{each:.3f}" for each in figures[0]), *(f"{each:.1f}" for each in figures[1]),
                *(f"{each:.0f}" for each in figures[2][:2]),
            ]  # fmt: skip
            table.append([f"{name} ({share:.1%})", f"{labels[0]:,.0f}", *cells])
            click.echo(f"{table[-1]}", err=True)
    heads = [f"{what}, {way}" for what in ("F1", "error") for way in WAYS]
    heads += [f"at most, {way}" for way in list(WAYS)[:2]]
    text = TEXT.format(
        most=MOST, shuffles=shuffles, limit=RARE, rare=rare,
        f1=np.mean(f1, axis=0), error=np.mean(error, axis=0),
        table=sections.table(["set", "labels", *heads], table),
    )  # fmt: skip
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.active.texts", text)


def measure(problem: Problem, part: float, seed: int) -> Any:
    """Of each way: labels, F1, error and upper end of its interval."""
    train, test = (rows[:MOST] for rows in problem.split(seed))
    pool, rows = (problem.matrix[each].astype(np.float64) for each in (train, test))
    labels, truth = (problem.labels[each].astype(int) for each in (train, test))
    rarer, budget = (1 if labels.mean() < 0 else -1), max(FEWEST, round(part * len(train)))
    for way in WAYS.values():
        audit = way.get("audit", 0.0) * budget / len(train)
        active = ActiveClassifier(
            classes=[-1, 1], budget=budget, random_state=seed, **way | {"audit": audit}
        ).pool(pool)
        while (question := active.ask_next()) is not None:
            active.answer(question.id, int(labels[question.row]))
        said = active.predict(rows)
        has_estimate = audit > 0.0 or "strategy" not in way
        high = 100.0 * active.estimate("error").high if has_estimate else np.nan
        yield (
            budget,
            float(f1_score(truth, said, pos_label=rarer)),
            100.0 * float(np.mean(said != truth)),
            high,
        )


if __name__ == "__main__":
    main()
