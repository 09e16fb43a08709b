"""Stopping rules: met or not, and why."""

import pytest

from steelyard.active.estimates import Estimate
from steelyard.active.stopping import Budget, ErrorBelow, Narrow, RecallAbove, Rule

ERROR = Estimate("current", "error", 0.06, 0.04, 0.09, 0.95, rows=5000, asked=400, skipped=0)
RECALL = Estimate("pool", "recall", 0.9, 0.85, 0.94, 0.9, rows=5000, asked=420, skipped=0)


@pytest.mark.parametrize(
    ("rule", "met", "why"),
    [
        (Budget(420), True, "stop: 420 of 420 questions asked"),
        (Budget(421), False, "continue: 420 of 421 questions asked"),
        (ErrorBelow(0.09), True, "stop: current error is at most 0.090, with 95 % confidence; "
         "the target is 0.090"),
        (ErrorBelow(0.08), False, "continue: current error is at most 0.090, with 95 % confidence; "
         "the target is 0.080"),
        (RecallAbove(0.85), True, "stop: pool recall is at least 0.850, with 90 % confidence; "
         "the target is 0.850"),
        (RecallAbove(0.9), False, "continue: pool recall is at least 0.850, with 90 % confidence; "
         "the target is 0.900"),
        (Narrow(0.06), True, "stop: current error lies between 0.040 and 0.090, with 95 % confidence: "
                             "a width of 0.050, wanted 0.060"),
        (Narrow(0.05, "pool", "recall"), False, "continue: pool recall lies between 0.850 and 0.940, "
                                                "with 90 % confidence: a width of 0.090, wanted 0.050"),
    ],
)  # fmt: skip
def test_verdicts(rule: Rule, met: bool, why: str) -> None:
    verdict = rule.judge([ERROR, RECALL])
    assert (verdict.met, verdict.why) == (met, why)


def test_a_rule_says_what_it_needs() -> None:
    with pytest.raises(
        ValueError, match="the rule needs the estimate of pool recall; there are: current error"
    ):
        RecallAbove(0.8).judge([ERROR])
    with pytest.raises(ValueError, match="the rule needs the estimate of current error; there are: none"):
        Narrow(0.1).judge([])
    assert not Budget(1).judge([]).met
