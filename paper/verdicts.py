"""Verdicts from cases, by the same rule in every study."""

from collections.abc import Iterable

from paper.study import Tally, Verdict

__all__ = ["Tally", "judge", "judge_cases", "sign", "tally"]


def tally(outcomes: Iterable[int]) -> Tally:
    """Count cases: above 0 as claimed, below 0 against it, 0 not told apart."""
    listed = list(outcomes)
    return Tally(
        sum(each > 0 for each in listed), sum(each == 0 for each in listed), sum(each < 0 for each in listed)
    )


def judge(found: Tally) -> Verdict:
    """A claim holds if no case speaks against it, is contradicted if none speaks for it; ties are neutral.

    >>> [judge(Tally(*cases)).value for cases in ((3, 1, 0), (3, 0, 1), (0, 2, 1), (0, 4, 0))]
    ['holds', 'mixed', 'contradicted', 'noted']
    """
    if found.against:
        return Verdict.PARTLY if found.agree else Verdict.FAILS
    return Verdict.HOLDS if found.agree else Verdict.NOTED


def judge_cases(so: int, cases: int) -> Verdict:
    """Judge where every case is as claimed or not."""
    return judge(Tally(so, 0, cases - so))


def sign(low: float, high: float) -> int:
    """1 or −1 if an interval lies on one side of 0, else 0: not told apart."""
    return (low > 0.0) - (high < 0.0)
