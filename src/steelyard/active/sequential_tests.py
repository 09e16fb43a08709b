"""Tests whose passing is a certificate: of a fixed model's error below e, of precision or recall at least ρ.

Rows are drawn uniformly without replacement from a finite set; nothing is assumed about them, only the draws
are random. Each test is an e-process: a product of bets that is worth 1 at first and, if the claim is false,
does not grow on average, whatever came before. So it exceeds 1/α *ever* with probability at most α (Ville's
inequality): one may look after every label and stop when it does. A test is one attempt; of several, number j
has the risk `attempt_alpha(α, j)` = α/(j(j + 1)), and all of them together have α.

>>> test = error_below(0.05, rows=10_000)
>>> for label in range(70):
...     test.add(bad=label == 30)
>>> test.passed, round(test.evidence, 1)
(False, 2.2)
>>> for label in range(100):
...     test.add(bad=False)
>>> test.passed, test.draws
(True, 170)
>>> plan(10_000, error=0.05, expected=0.01)  # how many labels, said beforehand and looked at once
Plan(labels=152, most_bad=3, power=0.93...)
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.active.confidence import Array
from steelyard.active.estimates import risk_of_look as attempt_alpha
from steelyard.native.lazy import LazyModule

__all__ = [
    "ALPHA", "POWER", "Plan", "PlannedTest", "RecallTest", "ShareTest", "attempt_alpha", "error_below",
    "plan", "planned", "precision_at_least", "share_evidence",
]  # fmt: skip

special: Any = LazyModule(
    "scipy.special"
)  # its import takes longer than most commands, which need only ALPHA
ALPHA = 0.05
POWER = 0.9
_QUANTILES = 64  # of the mixture
_AT_ONCE = 4096  # picks that are forecast together
_BETS = np.array([0.0, 0.15, 0.35, 0.6])  # r: what is left is that share of what is claimed
_SHARES = np.array([0.4, 0.3, 0.2, 0.1])  # of the money on each of them


class ShareTest:
    """Against the claim that at least `least` of `rows` rows are bad.

    The evidence is a likelihood ratio: a mixture of smaller numbers of bad rows over exactly `least`. Its
    factor is below 1 for a bad row and above 1 for a good one. Were more than `least` rows bad, bad ones
    would only come more often, so `least` is the worst case.
    """

    def __init__(self, rows: int, least: int, alpha: float = ALPHA) -> None:
        self.rows, self.least, self.alpha = rows, least, _check_share("alpha", alpha)
        self.draws = self.bad = 0
        self._best = -math.inf

    def add(self, *, bad: bool) -> None:
        """The next draw. One that nobody can answer counts as bad."""
        if self.draws == self.rows:
            raise ValueError(f"all {self.rows:,} rows were drawn already")
        self.draws += 1
        self.bad += bad
        self._best = max(self._best, self.log_evidence)

    @property
    def log_evidence(self) -> float:
        return float(share_evidence(self.draws, self.bad, self.rows, self.least))

    @property
    def evidence(self) -> float:
        return _exp(self.log_evidence)

    @property
    def passed(self) -> bool:
        """Whether the evidence was ever 1/α: what was certified once stays so."""
        return self._best >= -math.log(self.alpha)

    @property
    def hopeless(self) -> bool:
        """Whether so many bad rows were found that the claim is false for sure."""
        return self.bad >= self.least

    def forecast(self) -> int | None:
        """How many more labels it takes if the share of bad ones stays as seen; None if it never passes."""
        share, few, many = self.bad / max(self.draws, 1), 0, self.rows - self.draws

        def passes(more: int) -> bool:
            evidence = share_evidence(self.draws + more, self.bad + int(share * more), self.rows, self.least)
            return bool(evidence >= -math.log(self.alpha))

        if self.passed or not passes(many):
            return 0 if self.passed else None
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if passes(middle) else (middle, many)
        return many


class PlannedTest:
    """Tests the same claim once, after a number of labels that is fixed beforehand (Clopper and Pearson).

    `expected` is the share of bad rows that is planned for: such a model passes with the power of the `plan`.
    """

    log_evidence = math.nan  # it has a verdict at the end, and no evidence on the way

    def __init__(self, rows: int, least: int, alpha: float, expected: float) -> None:
        self.rows, self.least, self.alpha = rows, least, _check_share("alpha", alpha)
        self.plan = _plan(rows, least, expected, alpha, POWER)
        self.draws = self.bad = 0

    def add(self, *, bad: bool) -> None:
        """The next draw. One that nobody can answer counts as bad."""
        if self.draws == self.plan.labels:
            raise ValueError(f"all {self.plan.labels:,} labels of the plan were drawn already")
        self.draws += 1
        self.bad += bad

    @property
    def passed(self) -> bool:
        return self.draws == self.plan.labels and not self.hopeless

    @property
    def hopeless(self) -> bool:
        """Whether more bad rows were found than the plan allows."""
        return self.bad > self.plan.most_bad

    def forecast(self) -> int | None:
        """How many labels of the plan are left; None if it cannot pass any more."""
        return None if self.hopeless else self.plan.labels - self.draws


def error_below(target: float, rows: int, alpha: float = ALPHA) -> ShareTest:
    """Fewer than `target` of the rows are predicted wrongly; a bad row is a wrong one."""
    return ShareTest(rows, _too_many("error", target, rows), alpha)


def precision_at_least(target: float, rows: int, alpha: float = ALPHA) -> ShareTest:
    """At least `target` of the rows, all predicted positive, are positive; a bad row is one that is not."""
    return ShareTest(rows, _too_many("precision", target, rows), alpha)


def planned(measure: str, target: float, rows: int, alpha: float, expected: float) -> PlannedTest:
    """Error below the target, or precision at least the target, if that measure is expected to be so."""
    share = expected if measure == "error" else float(1 - Fraction(str(expected)))
    return PlannedTest(rows, _too_many(measure, target, rows), alpha, share)


def _too_many(measure: str, target: float, rows: int) -> int:
    """The least number of bad rows with which the claim is false."""
    share = _exact("target", target)
    return math.ceil(share * rows) if measure == "error" else math.floor((1 - share) * rows) + 1


def share_evidence(draws: ArrayLike, bad: ArrayLike, rows: int, least: int) -> Array:
    """The logarithm of the evidence after so many draws, so many of them bad.

    The mixture has the Jeffreys prior Beta(½, ½) of the share of bad rows, cut off at the claim, at its
    quantiles. (Any mixture that is fixed beforehand would be valid.)
    """
    n, m = np.asarray(draws, np.float64), np.asarray(bad, np.float64)
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    shares = np.sin(middles * math.asin(math.sqrt(min(1.0, least / rows)))) ** 2
    counts, often = np.unique(np.minimum(np.floor(shares * rows), least - 1), return_counts=True)
    own = _log_likelihood(n[..., np.newaxis], m[..., np.newaxis], rows, counts)
    mixture = special.logsumexp(own, axis=-1, b=often / _QUANTILES)
    known = n - m > rows - least  # so many good ones that the claim is false for sure
    against = np.where(known, 0.0, _log_likelihood(n, np.minimum(m, least), rows, np.array(float(least))))
    evidence: Array = np.where(m >= least, -np.inf, np.where(known, np.inf, mixture - against))
    return evidence


def _log_likelihood(draws: Array, bad: Array, rows: int, count: Array) -> Array:
    """The likelihood of draws without replacement if `count` rows are bad; up to a constant."""
    good, others = draws - bad, rows - count
    possible = (bad <= count) & (good <= others)
    left = np.where(possible, count - bad, 0.0), np.where(possible, others - good, 0.0)
    likelihood = (
        special.gammaln(count + 1)
        - special.gammaln(left[0] + 1)
        + special.gammaln(others + 1)
        - special.gammaln(left[1] + 1)
    )
    return np.where(possible, likelihood, -np.inf)


class RecallTest:
    """Against the claims "at least k of `rows` rows are relevant", one for each k.

    Rows are read in any order that a ranking likes; now and then one is picked uniformly from the unread. If
    at least k are relevant, the pick is with probability p = (k − found)/unread or more. A miss multiplies
    the evidence against k by (1 − r·p)/(1 − p), a hit by r < 1; the money is spread over several r. The
    evidence grows with k; so if the claim k* = ⌊found/ρ⌋ + 1 falls wrongly, that of the true number has
    fallen, too, and the test needs no correction for choosing k* late.
    """

    def __init__(self, target: float, rows: int, alpha: float = ALPHA) -> None:
        self.target, self.rows = _exact("target", target), rows
        self.alpha = _check_share("alpha", alpha)
        self.read = self.found = 0
        self.passed = False
        self.hopeless = False  # whatever is found, all rows can be read
        self._picks: list[tuple[int, int, bool]] = []  # found and unread before it, and whether it was a hit
        self._summed = -1, 0, np.zeros(len(_BETS))  # a claim, how many picks, and the bets' logarithms

    def add(self, *, relevant: bool, picked: bool) -> None:
        """The next row that was read: `picked` at random from all unread ones, or chosen otherwise.

        Call rows that nobody can judge relevant, or call them irrelevant, but all of them, picked or not.
        """
        if self.read == self.rows:
            raise ValueError(f"all {self.rows:,} rows were read already")
        if picked:
            self._picks.append((self.found, self.rows - self.read, relevant))
        self.read += 1
        self.found += relevant
        self.passed = self.passed or self.log_evidence(self.claim) >= -math.log(self.alpha)

    @property
    def claim(self) -> int:
        """k*, the number of relevant rows from which on recall would be below the target."""
        return math.floor(self.found / self.target) + 1

    def log_evidence(self, claim: int) -> float:
        """The logarithm of the evidence against at least so many relevant rows."""
        if claim - self.found > self.rows - self.read:
            return math.inf  # there are not so many
        known, since, factors = self._summed
        if claim != known:  # k* changes with every relevant row, and in between few picks are new
            since, factors = 0, np.zeros(len(_BETS))
        for found, unread, hit in self._picks[since:]:
            p = min(1.0, max(0.0, (claim - found) / unread))
            with np.errstate(divide="ignore"):  # a hit where r = 0
                factors = factors + (np.log(_BETS) if hit else np.log1p(-_BETS * p) - np.log1p(-p))
        self._summed = claim, len(self._picks), factors
        return float(special.logsumexp(factors, b=_SHARES))

    def forecast(self) -> int:
        """How many more picks it takes if none of them is relevant."""
        claim, unread, done = self.claim, self.rows - self.read, 0
        if self.passed or self.log_evidence(claim) == math.inf:
            return 0
        factors, missing = self._summed[2], claim - self.found
        most = unread - missing + 1  # then there are not so many left
        while done < most - 1:
            p = missing / (unread - np.arange(done, min(done + _AT_ONCE, most - 1)))
            sums = factors[:, None] + np.cumsum(np.log1p(-_BETS[:, None] * p) - np.log1p(-p), axis=1)
            passed = np.flatnonzero(
                special.logsumexp(sums, axis=0, b=_SHARES[:, None]) >= -math.log(self.alpha)
            )
            if len(passed):
                return done + int(passed[0]) + 1
            factors, done = sums[:, -1], done + _AT_ONCE
        return most


@dataclass(frozen=True)
class Plan:
    """A test of fixed size: it passes if at most `most_bad` of exactly so many labels are bad."""

    labels: int
    most_bad: int
    power: float
    """The probability of passing, if the share of bad rows is as expected."""


def plan(rows: int, error: float, expected: float, alpha: float = ALPHA, power: float = POWER) -> Plan:
    """The least number of labels with which a model whose error is as `expected` passes with that power.

    This is the test of Clopper and Pearson for a finite set of rows: exact, for one look after all labels.
    """
    return _plan(rows, math.ceil(_exact("error", error) * rows), expected, alpha, power)


def _plan(rows: int, least: int, expected: float, alpha: float, power: float) -> Plan:
    _check_share("alpha", alpha)
    likely = math.ceil(Fraction(str(expected)) * rows)
    if not 0 <= likely < least:
        raise ValueError(
            f"a model that is wrong in {expected:g} of the rows cannot be expected to pass: the claim is "
            f"that it is in fewer than {least / rows:g}"
        )
    _check_share("power", power)
    most_bad, chance = -1, 0.0
    while chance < power:  # with all rows, there are at most `likely` bad ones for sure
        most_bad += 1
        low, high = most_bad, rows
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _few(most_bad, middle, rows, least) <= alpha else (middle, high)
        chance = _few(most_bad, high, rows, likely)
    return Plan(high, most_bad, chance)


def _few(most: int, draws: int, rows: int, bad: int) -> float:
    """The probability of at most so many bad ones among the draws: hypergeometric."""
    k = np.arange(max(0, draws - (rows - bad)), min(most, bad, draws) + 1, dtype=np.float64)
    chosen = _log_choose(bad, k) + _log_choose(rows - bad, draws - k) - _log_choose(rows, np.array(draws))
    return min(1.0, float(np.exp(chosen).sum()))


def _log_choose(n: int, k: Array) -> Array:
    chosen: Array = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return chosen


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 700.0 else math.inf


def _check_share(name: str, share: float) -> float:
    if not 0.0 < share < 1.0:
        raise ValueError(f"{name} must lie between 0 and 1; got {share}")
    return share


def _exact(name: str, share: float) -> Fraction:
    """The share exactly as it is written: 0.05 of 2,000 rows are 100, not a little more."""
    return Fraction(str(float(_check_share(name, share))))
