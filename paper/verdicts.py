"""Verdicts that follow from counts: by the same rule in every study."""

from paper.study import Verdict


def judge_cases(so: int, cases: int) -> Verdict:
    """A claim holds if it is so in every case, in part if it is so in more than half of them."""
    if so == cases:
        return Verdict.HOLDS
    return Verdict.PARTLY if 2 * so > cases else Verdict.FAILS
