"""`LearnerSnapshot`: a learner as it was at one moment, to be judged in any thread while the learner goes on."""

from dataclasses import dataclass

from steelyard.active._answers import AuditSample
from steelyard.active.journal import History
from steelyard.active.labelled_rows import LabelledRows
from steelyard.active.stored_rows import ReadRows
from steelyard.active.strategies._base import BudgetPlan, Strategy


@dataclass(frozen=True)
class LearnerSnapshot:
    """All that `Evaluation` needs of a learner; nothing in it changes any more."""

    labelled: LabelledRows
    read: ReadRows
    history: History
    strategy: Strategy
    plan: BudgetPlan
    audit: AuditSample
    seen: int
    asked: int
    answered: int

    def snapshot(self) -> "LearnerSnapshot":
        return self
