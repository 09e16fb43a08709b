"""The steps on inverse propensities: learn from the log of one policy what another policy would meet.

Thompson sampling chose the items of the first log and recorded the probability of each choice; the second
log has items chosen uniformly. Rows of the first have the weight (1/items)/propensity, to stand
for the second.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from paper import data
from paper.studies.weighted import learning, measures, sets
from paper.studies.weighted.learning import Floats
from paper.study import Row, Step

TABLE, EVALUATED, COMPARED = "bandit", "bandit_evaluation", "bandit_comparison"
FILES = {"logged": "open-bandit/bts_men.csv.gz", "even": "open-bandit/random_men.csv.gz"}
APPROACHES = ("unweighted", *learning.UPDATES)
RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_ITEM, _POSITION, _CLICK, _PROPENSITY, _PERSON, _AFFINITY = 2, 3, 4, 5, slice(6, 10), 10


def steps(seeds: int, resamples: int) -> list[Step]:
    digests = [data.file_digest(data.folder() / file) for file in FILES.values()]
    inputs = {"data": digests, "seeds": list(range(seeds)), "resamples": resamples}
    return [
        Step(TABLE, "rates", inputs, lambda: _rates(seeds)),
        Step(COMPARED, "chosen", inputs, lambda: _compare(seeds, resamples)),
        Step(EVALUATED, "clicks", inputs, lambda: _evaluate(resamples)),
    ]


class Logs:
    """Both logs, with common features."""

    def __init__(self) -> None:
        tables = {kind: sets.read_table(file, header=True) for kind, file in FILES.items()}
        rows = [row for table in tables.values() for row in table]
        columns = list(zip(*rows, strict=True))
        liked = [str(float(row[_AFFINITY + int(row[_ITEM])]) > 0.0) for row in rows]
        described = [columns[_ITEM], columns[_POSITION], *columns[_PERSON], liked]
        matrix = sets.indicators([sets.categories(column) for column in described])
        clicks = np.where(np.array(columns[_CLICK], dtype=float) > 0.0, 1.0, -1.0)
        first = len(tables["logged"])
        self.items = len(set(columns[_ITEM]))
        self.logged, self.even = matrix[:first], matrix[first:]
        self.clicks, self.even_clicks = clicks[:first], clicks[first:]
        self.weights = 1.0 / self.items / np.array(columns[_PROPENSITY][:first], dtype=float)


@cache
def logs() -> Logs:
    return Logs()


def _learn(approach: str, rate: float, seed: int) -> learning.LearnedModels:
    found = logs()
    order = np.random.default_rng(seed).permutation(len(found.clicks))
    weights = np.ones_like(found.weights) if approach == "unweighted" else found.weights
    way = "invariant" if approach == "unweighted" else approach
    return learning.learn(way, found.logged[order], found.clicks[order], weights[order], rate=rate, seed=seed)


def _rates(seeds: int) -> list[Row]:
    found = logs()
    results: list[Row] = []
    for approach in APPROACHES:
        for rate in RATES:
            for seed in range(seeds):
                learned = _learn(approach, rate, seed)
                results.append({
                    "approach": approach, "rate": rate, "seed": seed,
                    "progressive": learned.members[0].progressive_loss_,
                    "log_loss": measures.log_loss(learned.odds(found.even), found.even_clicks),
                })  # fmt: skip
    return results


def _compare(seeds: int, resamples: int) -> list[Row]:
    """Compare the approaches, each at the rate with the lowest progressive loss on the first log."""
    found = logs()
    constant = np.full(len(found.even_clicks), logit(_mean(found.clicks > 0.0, found.weights)))
    losses = {"constant": measures.log_losses(constant, found.even_clicks)}
    chosen = {"constant": 0.0}
    for approach in APPROACHES:
        tried = {rate: [_learn(approach, rate, seed) for seed in range(seeds)] for rate in RATES}
        progress = {
            rate: np.mean([each.members[0].progressive_loss_ for each in ways])
            for rate, ways in tried.items()
        }
        rate = chosen[approach] = min(progress, key=progress.__getitem__)
        odds = [each.odds(found.even) for each in tried[rate]]
        losses[approach] = np.mean([measures.log_losses(each, found.even_clicks) for each in odds], axis=0)
    samples = _resample(len(found.even_clicks), resamples)
    return [
        {"approach": approach, "rate": chosen[approach], **_interval(loss, samples, ""),
         **_interval(loss - losses["invariant"], samples, "beyond_invariant_")}
        for approach, loss in losses.items()
    ]  # fmt: skip


def _evaluate(resamples: int) -> list[Row]:
    """The share of clicks under uniform choices: estimated from the first log, and observed in the second."""
    found = logs()
    clicks, truth = (found.clicks > 0.0).astype(float), (found.even_clicks > 0.0).astype(float)
    samples = _resample(len(clicks), resamples)
    normalised = np.array([_mean(clicks[rows], found.weights[rows]) for rows in samples])
    low, high = np.quantile(normalised, [0.025, 0.975])
    rows: list[Row] = [
        {"estimate": "first log, weights ignored", **_interval(clicks, samples, "")},
        {"estimate": "first log, inverse propensities", **_interval(clicks * found.weights, samples, "")},
        {"estimate": "first log, inverse propensities, divided by their sum",
         "mean": _mean(clicks, found.weights), "low": float(low), "high": float(high)},
        {"estimate": "second log, what came",
         **_interval(truth, _resample(len(truth), resamples), "")},
    ]  # fmt: skip
    about: Row = {
        "rows": len(clicks),
        "clicks": int(clicks.sum()),
        "even_rows": len(truth),
        "even_clicks": int(truth.sum()),
        "largest_over_mean": float(found.weights.max() / found.weights.mean()),
    }
    return [{**row, **about} for row in rows]


def _resample(rows: int, times: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, rows, (times, rows))


def _interval(values: Floats, samples: NDArray[np.int64], prefix: str) -> Row:
    """The mean, and a 95 % bootstrap interval."""
    low, high = np.quantile([values[rows].mean() for rows in samples], [0.025, 0.975])
    return {f"{prefix}mean": float(values.mean()), f"{prefix}low": float(low), f"{prefix}high": float(high)}


def _mean(values: NDArray[np.bool_] | Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights))
