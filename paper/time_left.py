"""Estimates how long the remaining steps will take, from those that are done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from paper.study import Step


@dataclass
class TimeLeft:
    """An estimate that improves: from the last time of the same step, else from steps of the same table."""

    last: Mapping[tuple[str, str], float]
    """Seconds by table and key of earlier runs, even if their rows are out of date."""
    _tables: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for (table, _), seconds in self.last.items():
            self._tables.setdefault(table, []).append(seconds)

    def learn(self, step: Step, seconds: float) -> None:
        self._tables.setdefault(step.table, []).append(seconds)

    def seconds(self, steps: Sequence[Step]) -> float | None:
        """The time for these steps together; None if nothing is known."""
        if not self._tables:
            return 0.0 if not steps else None
        anything = fmean(fmean(each) for each in self._tables.values())
        return sum(self._one(step, anything) for step in steps)

    def _one(self, step: Step, anything: float) -> float:
        before = self.last.get((step.table, step.key))
        if before is not None:
            return before
        return fmean(self._tables[step.table]) if step.table in self._tables else anything


def format_seconds(seconds: float) -> str:
    """A rough duration, for people.

    >>> format_seconds(40), format_seconds(100), format_seconds(5000)
    ('40 s', '2 min', '1 h 23 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
