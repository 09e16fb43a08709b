"""How often are certificates wrong where the truth is on the boundary, and how many labels do they take?

python -m benchmarks.active.certificates --output docs/certify.md
"""

import math
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.support import sections
from steelyard.active.estimates import RunningEstimate
from steelyard.active.label_sample import from_losses
from steelyard.active.sequential_tests import (
    ALPHA,
    RecallTest,
    ShareTest,
    error_below,
    plan,
    precision_at_least,
    share_evidence,
)

POOL, RELEVANT = 5_000, 100
_ERRORS = ((0.1, 0.05), (0.1, 0.02), (0.05, 0.025), (0.05, 0.01), (0.02, 0.01), (0.02, 0.005))
_RECALLS = ((0.9, 17, 2, 300, 0.0), (0.8, 15, 4, 400, 0.0), (0.8, 0, 20, 300, 0.5))
_PATIENCE = 50  # documents in a row that are not relevant, before a reader gives up a ranking

PAGE = """
## The figures

### How often is a certificate wrong?

{runs:,} times each, α = {alpha:g}, a look after every label, until all rows are drawn. The truth is on the
boundary: as many rows are bad as are just too many, or there is one relevant row too many for the target.
Allowed are {alpha:.1%}, and with sampling error (three standard errors) {allowed:.1%}.

{wrong}

### How many labels does it take?

For the error of a model on {pool:,} rows, α = {alpha:g}, {runs:,} times. *Fixed* is the number of labels of
`plan`, with which such a model passes with 90 % probability: one look, and the true error must have been
guessed beforehand. *Interval*: that of `estimate()` with uniformly drawn labels, until its upper end is below
the target ({few} times).

{labels}

### How many documents until recall is certain?

{relevant} relevant ones among {pool:,}, ranked by scores with a normal distribution for each class,
α = {alpha:g}, {few} times; documents read until recall is certified (median; 90 % quantile). *Every fifth
picked*: the others are read by rank. *First the ranking*: until {patience} documents in a row are not
relevant, then picks only. *QBCB* (Lewis, Yang and Frieder, 2021): pick documents until enough relevant ones
are among them, then read by rank until all of these are found. Last, a reader who knows when to stop.

{recall}

`python -m benchmarks.active.certificates --output docs/certify.md` wrote this section in {seconds:.0f} seconds.
"""


@click.command()
@click.option("--runs", default=2000, show_default=True)
@click.option("--few", default=50, show_default=True, help="Runs of what is slow.")
@click.option("--output", type=click.Path(path_type=Path), help="The page to write to.")
def main(runs: int, few: int, output: Path | None) -> None:
    """Certificates by simulation."""
    began = time.perf_counter()
    tables = {"wrong": wrong(runs), "labels": labels(runs, few), "recall": recall(few)}
    text = PAGE.format(
        runs=runs, few=few, alpha=ALPHA, allowed=ALPHA + 3.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / runs),
        pool=POOL, relevant=RELEVANT, patience=_PATIENCE, seconds=time.perf_counter() - began, **tables,
    )  # fmt: skip
    if output is None:
        click.echo(text)
    else:
        sections.write(output, "benchmarks.active.certificates", text)


def wrong(runs: int) -> str:
    """The share of runs with a wrong certificate."""
    rng = np.random.default_rng(0)
    tests = {
        "error below 0.1, 200 rows": error_below(0.1, 200),
        "error below 0.05, 2,000 rows": error_below(0.05, 2000),
        "error below 0.02, 10,000 rows": error_below(0.02, 10_000),
        "precision at least 0.9, 500 rows": precision_at_least(0.9, 500),
    }
    table = [[name, f"{_wrong_share(test, runs, rng):.1%}"] for name, test in tests.items()]
    for target, found, missed, rows, share in _RECALLS:
        how = f"found {found} of {found + missed}, then picks" if found else "every second one picked"
        failed = sum(_wrong_recall(target, found, missed, rows, share, rng) for _ in range(runs))
        table.append([f"recall at least {target}, {rows} rows unread, {how}", f"{failed / runs:.1%}"])
    return sections.table(["claim", "wrong certificates"], table)


def passing(test: ShareTest) -> NDArray[np.int64]:
    """The most bad ones with which the test passes after each number of draws; −1 for none."""
    most = np.full(test.rows + 1, -1)
    for draws in range(1, test.rows + 1):
        most[draws] = most[draws - 1]
        while share_evidence(draws, most[draws] + 1, test.rows, test.least) >= -math.log(test.alpha):
            most[draws] += 1
    return most[1:]


def _wrong_share(test: ShareTest, runs: int, rng: np.random.Generator) -> float:
    most, bad = passing(test), np.arange(test.rows) < test.least
    return float(np.mean([(np.cumsum(rng.permutation(bad)) <= most).any() for _ in range(runs)]))


def _wrong_recall(
    target: float, found: int, missed: int, rows: int, share: float, rng: np.random.Generator
) -> bool:
    """Whether recall is certified before it has reached the target; of the reads, a share is by rank."""
    test, total = RecallTest(target, found + rows), found + missed
    for _ in range(found):
        test.add(relevant=True, picked=False)
    order = iter(rng.permutation(np.arange(rows) < missed))  # those left are as good as shuffled
    for relevant in order:
        test.add(relevant=bool(relevant), picked=bool(rng.random() >= share))
        if test.found >= target * total:
            return False
        if test.passed:
            return True
    raise AssertionError("all were read")


def labels(runs: int, few: int) -> str:
    rng = np.random.default_rng(1)
    table = []
    for target, truth in _ERRORS:
        test, fixed = error_below(target, POOL), plan(POOL, target, truth)
        most, bad = passing(test), np.arange(POOL) < round(truth * POOL)
        needed = [1 + int(np.argmax(np.cumsum(rng.permutation(bad)) <= most)) for _ in range(runs)]
        today = [_today(rng.permutation(bad), target) for _ in range(few)]
        table.append([
            f"below {target:.0%}", f"{truth:.1%}", f"{fixed.labels:,}", f"{np.mean(needed):,.0f}",
            *(f"{np.quantile(needed, level):,.0f}" for level in (0.5, 0.9)), f"{np.median(today):,.0f}",
        ])  # fmt: skip
    heads = ["claim", "true error", "fixed", "certificate, mean", "median", "90 %", "interval, median"]
    return sections.table(heads, table)


def _today(bad: NDArray[np.bool_], target: float) -> int:
    ones = np.ones(len(bad))
    below = RunningEstimate("progressive", level=1.0 - ALPHA).path(from_losses(ones, ones, bad)).high < target
    return int(np.argmax(below)) if below.any() else len(bad)


def recall(few: int) -> str:
    rng = np.random.default_rng(2)
    table = []
    for distance in (2.5, 4.0):
        for target in (0.8, 0.9, 0.95):
            ways: dict[str, list[int]] = {"fifth": [], "first": [], "qbcb": [], "perfect": []}
            for _ in range(few):
                relevant = np.arange(POOL) < RELEVANT
                ranked = relevant[np.argsort(-rng.normal(size=POOL) - distance * relevant)]
                ways["fifth"].append(_read(ranked, target, _every_fifth(), rng))
                ways["first"].append(_read(ranked, target, None, rng))
                ways["qbcb"].append(_qbcb(ranked, target, rng))
                ways["perfect"].append(1 + int(np.argmax(np.cumsum(ranked) >= target * RELEVANT)))
            cells = [f"{np.median(each):,.0f}; {np.quantile(each, 0.9):,.0f}" for each in ways.values()]
            table.append([f"{target}, classes {distance} apart", *cells])
    return sections.table(
        ["recall at least", "every fifth picked", "first the ranking", "QBCB", "perfect"], table
    )


def _every_fifth() -> Iterator[bool]:
    while True:
        yield from (False, False, False, False, True)


def _read(
    ranked: NDArray[np.bool_], target: float, turns: Iterator[bool] | None, rng: np.random.Generator
) -> int:
    """Documents until recall is certified: the turns say which are picked."""
    test, chance = RecallTest(target, len(ranked)), rng.permutation(len(ranked)).tolist()
    unread, by_rank, dry = set(range(len(ranked))), 0, 0
    while not test.passed:
        if next(turns) if turns is not None else dry >= _PATIENCE:
            while (row := chance.pop()) not in unread:
                pass
            picked = True
        else:
            while by_rank not in unread:
                by_rank += 1
            row, picked = by_rank, False
            dry = 0 if ranked[row] else dry + 1
        unread.remove(row)
        test.add(relevant=bool(ranked[row]), picked=picked)
    return test.read


def _qbcb(ranked: NDArray[np.bool_], target: float, rng: np.random.Generator) -> int:
    """Documents with so many picked relevant ones that all of them below the quantile is unlikely."""
    wanted = math.ceil(math.log(ALPHA) / math.log(target))
    if wanted > ranked.sum():
        return len(ranked)
    order = rng.permutation(len(ranked))
    count = 1 + int(np.argmax(np.cumsum(ranked[order]) >= wanted))
    picked = order[:count]
    last = int(picked[ranked[picked]].max())
    return count + last + 1 - int(np.sum(picked <= last))


if __name__ == "__main__":
    main()
