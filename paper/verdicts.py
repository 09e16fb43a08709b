"""Verdicts from counts, by the same rule in every study."""

from paper.study import Verdict


def judge_cases(so: int, cases: int) -> Verdict:
    """A claim holds if it is true in every case, and in part if it is true in more than half of them."""
    if so == cases:
        return Verdict.HOLDS
    return Verdict.PARTLY if 2 * so > cases else Verdict.FAILS
