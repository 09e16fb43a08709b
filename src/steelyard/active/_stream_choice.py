"""`choose_from_stream`: which of the next rows of a stream are asked for."""

import numpy as np
from numpy.typing import NDArray

from steelyard.active import counter_rng
from steelyard.active._answers import AuditSample
from steelyard.active.journal import Decisions
from steelyard.active.stored_rows import ReadRows
from steelyard.active.strategies._base import Strategy

_QUESTIONS = 0  # the purpose of these random numbers


def choose_from_stream(
    strategy: Strategy,
    scores: NDArray[np.float64],
    predictions: NDArray[np.float64],
    read: ReadRows,
    audit: AuditSample,
    *,
    seen: int,
    cost: int,
    first_only: bool,
) -> tuple[Decisions, list[int]]:
    """The decisions about rows that come after `seen` others and `cost` labels, and which are asked for.

    The strategy takes note of them. With `first_only` the decisions end at the first row that is asked for.
    """
    plan, count = strategy.plan, len(scores)
    probabilities = np.zeros(count)
    asked: list[int] = []
    at = 0
    while at < count and not (first_only and asked):
        k = seen + at + 1
        end = min(count, at + strategy.stretch(k))
        counts = np.arange(k, k + end - at)
        p = strategy.probabilities(scores[at:end], counts, cost)
        ask = counter_rng.uniform(audit.seed, _QUESTIONS, counts) < p
        if not plan.is_spent(cost):
            ask, p = ask | audit.includes(counts - 1), plan.with_audit(p)
        taught = np.array(read.taught_between(k - 1, seen + end), np.int64) - (k - 1)
        ask[taught], p[taught] = False, 0.0  # such rows have a label, and are in no estimate
        hits = np.flatnonzero(ask)
        if len(hits):
            end = at + int(hits[0]) + 1
            asked.append(end - 1)
            cost += 1
        probabilities[at:end] = p[: end - at]
        strategy.observe(scores[at:end], seen + end, cost, question=len(hits) > 0)
        at = end
    decisions = Decisions(
        seen, probabilities[:at], predictions[:at], scores[:at],
        strategy.bound, strategy.thinning, len(strategy.window),
    )  # fmt: skip
    return decisions, asked
