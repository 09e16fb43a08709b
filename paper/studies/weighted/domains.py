"""The steps on covariate shift: learn from reviews of one kind of goods, predict those of another.

A classifier tells the kinds apart without seeing the labels. The weight of a review is the odds that it is of
the new kind. They are cross-validated with five folds, so that no review is weighted by a classifier that
learned it.
"""

import gzip
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import cross_val_predict

from paper import data
from paper.studies.weighted import learning, measures
from paper.studies.weighted.learning import Floats
from paper.study import Row, Step
from steelyard import weight_summary

TABLE = "covariate_shift"
DOMAINS = ("books", "dvd", "electronics", "kitchen")
FEATURES = 5_000
TRIED = (("unweighted", 0.0), *product(learning.UPDATES, (1.0, 0.5)))
"""Approaches, each with the power of the odds that is the weight; a power below 1 flattens (Shimodaira, 2000)."""
RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
LIMIT = 100.0
"""The largest weight; the smallest is one over it."""


def step(source: str, target: str, seeds: int) -> Step:
    files = [data.file_digest(_path(name, kind)) for name in (source, target) for kind in ("train", "test")]
    inputs = {"data": files, "seeds": list(range(seeds))}
    return Step(TABLE, f"{source} to {target}", inputs, lambda: _shift(source, target, seeds))


def _path(domain: str, kind: str) -> Any:
    return data.folder() / "amazon-reviews" / f"{domain}_{kind}.svmlight.gz"


@cache
def load(domain: str, kind: str) -> tuple[sparse.csr_matrix, Floats]:
    with gzip.open(_path(domain, kind), "rb") as stream:
        matrix, labels = load_svmlight_file(stream, n_features=FEATURES, dtype=np.float32, zero_based=True)
    return matrix, np.where(labels > 0.0, 1.0, -1.0)


def ratios(old: sparse.csr_matrix, new: sparse.csr_matrix) -> Floats:
    """How much likelier each old row is among the new ones, at most LIMIT times."""
    both = sparse.vstack([old, new], format="csr")
    kinds = np.repeat([-1.0, 1.0], [old.shape[0], new.shape[0]])
    order = np.random.default_rng(0).permutation(len(kinds))
    judge = learning.classifier("invariant", 1.0)
    odds = np.empty(len(kinds))
    odds[order] = cross_val_predict(judge, both[order], kinds[order], cv=5, method="decision_function")
    share = new.shape[0] / old.shape[0]
    logarithms = odds[: old.shape[0]] - np.log(share)
    return np.asarray(np.exp(np.clip(logarithms, -np.log(LIMIT), np.log(LIMIT))))


def _shift(source: str, target: str, seeds: int) -> list[Row]:
    matrix, labels = load(source, "train")
    unseen, truth = load(target, "test")
    full = ratios(matrix, load(target, "train")[0])
    results: list[Row] = []
    for approach, power in TRIED:
        weights = full**power
        summary = weight_summary.summarise(weights)
        for seed, rate in product(range(seeds), RATES):
            order = np.random.default_rng(seed).permutation(len(labels))
            learned = learning.learn(
                "invariant" if approach == "unweighted" else approach,  # with power 0 all weights are 1
                matrix[order], labels[order], weights[order], rate=rate, seed=seed,
            )  # fmt: skip
            odds = learned.odds(unseen)
            results.append({
                "source": source, "target": target, "approach": approach, "power": power, "seed": seed,
                "rate": rate, "error": measures.error(odds, truth), "rows": len(labels),
                "effective": summary.effective_sample_size, "largest_share": summary.largest_share,
            })  # fmt: skip
    return results
