"""Active learning on real text, and the estimates of the final model that each way of scoring gives.

The asking is a simple substitute for the library's own, so that estimates can be judged without it: the
probability of a question falls with the margin, but not below a floor; answers are learned at once, with
weight 1/P, in all lanes but one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.active.crossfit import CrossFit
from benchmarks.support import labelled, sections
from benchmarks.support.labelled import Problem
from steelyard import losses
from steelyard.active.estimates import Estimate, current, progressive
from steelyard.active.label_sample import LabelSample, from_labels
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings

TEXTS = ("rcv1-ccat", "enron-spam", "sms-spam")
FLOOR = 0.02
AUDIT = 0.01  # of the rows, never learned
_PIECE = 50  # rows between two updates


@dataclass(frozen=True)
class Trial:
    asked: int
    progressive: Estimate
    crossed: Estimate
    audit: Estimate
    own_labels: float
    """The error of the model on the labels it learned from."""
    own_weighted: float
    """Likewise, each label weighted by 1/P."""
    test: float
    """The error of the model on held-out rows."""
    lanes_test: float
    """The average error of the lanes on held-out rows."""


def trial(problem: Problem, seed: int, passes: int = 5, rate: float = 0.3) -> Trial:
    """One pass of asking; then the labels are learned several more times."""
    settings = Settings(losses.by_name("logistic"), scaling="normalized")
    order, kept = problem.split(seed)
    stream = examples(problem.matrix[order], problem.labels[order])
    test = examples(problem.matrix[kept], problem.labels[kept])
    random = np.random.default_rng(seed)
    count = len(order)
    audit = random.random(count) < AUDIT
    asker, lanes = Learner(settings, stream.features), CrossFit(settings, stream.features)
    probability, before = np.ones(count), np.empty(count)
    asked = np.zeros(count, bool)
    for start in range(0, count, _PIECE):
        numbers = np.arange(start, min(start + _PIECE, count))
        piece = stream.take(numbers)
        before[numbers] = asker.predict(piece)
        probability[numbers] = np.clip(rate * np.exp(-np.abs(before[numbers])), FLOOR, 1.0)
        asked[numbers] = random.random(len(numbers)) < probability[numbers]
        learned = numbers[asked[numbers] & ~audit[numbers]]
        _learn(asker, lanes, problem, order, learned, 1.0 / probability[learned])
    rows = np.flatnonzero(asked & ~audit)
    for again in range(1, passes):
        shuffled = np.random.default_rng([seed, again]).permutation(rows)
        _learn(asker, lanes, problem, order, shuffled, 1.0 / probability[shuffled])
    labels, own = stream.labels, asker.predict(stream)
    wrong = (own[rows] > 0.0) != (labels[rows] > 0.0)
    crossed = _sample(probability, asked, labels, lanes.held_out(stream, np.arange(count)), ~audit)
    audited = _sample(np.ones(count), audit, labels, own, audit)
    return Trial(
        int((asked | audit).sum()),
        progressive(_sample(probability, asked, labels, before, ~audit)),
        current(crossed, np.zeros(len(crossed))),
        current(audited, np.zeros(len(audited))),
        float(wrong.mean()),
        float(np.average(wrong, weights=1.0 / probability[rows])),
        float(((asker.predict(test) > 0.0) != (test.labels > 0.0)).mean()),
        float(((lanes.models.predict(test) > 0.0) != (test.labels > 0.0)[:, np.newaxis]).mean()),
    )


def _learn(
    asker: Learner,
    lanes: CrossFit,
    problem: Problem,
    order: NDArray[np.intp],
    numbers: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> None:
    chunk = examples(problem.matrix[order[numbers]], problem.labels[order[numbers]], weights)
    asker.learn(chunk)
    lanes.learn(chunk, numbers)


def _sample(
    probability: NDArray[np.float64],
    asked: NDArray[np.bool_],
    labels: NDArray[np.float64],
    predictions: NDArray[np.float64],
    rows: NDArray[np.bool_],
) -> LabelSample:
    """With the model's own probabilities as guesses."""
    chance = 1.0 / (1.0 + np.exp(-np.clip(predictions, -30.0, 30.0)))
    columns = probability, asked, np.where(asked, labels > 0.0, np.nan), predictions > 0.0, chance
    return from_labels(*(column[rows] for column in columns))


TEXT = """
### Real text

Errors in per cent. Questions by margin, floor {floor:.0%}; {audit:.0%} of the rows are an audit; logistic
loss, five passes over the labels. *True* is the error of the lanes on the held-out fifth of the rows.

{table}
"""


def section(seeds: int) -> str:
    """The section of the page."""
    table = []
    for name in TEXTS:
        problem = labelled.load(name)
        for seed in range(seeds):
            found = trial(problem, seed)
            cells = (
                f"{100.0 * each.value:.1f} ({100.0 * each.low:.1f} – {100.0 * each.high:.1f})"
                for each in (found.crossed, found.audit, found.progressive)
            )
            true, own = 100.0 * found.lanes_test, 100.0 * found.own_weighted
            table.append([f"{name}, {seed}", f"{found.asked:,}", f"{true:.1f}", *cells, f"{own:.1f}"])
    heads = [
        "set, shuffle", "labels", "true",
        "`current`, cross-validated", "`current`, audit", "`progressive`", "on its own labels",
    ]  # fmt: skip
    return TEXT.format(floor=FLOOR, audit=AUDIT, table=sections.table(heads, table)).strip()
