"""What a report is made of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from paper.store import Store
from paper.study import Part, Scope, Step, Study, Tables


@dataclass(frozen=True)
class Run:
    """Some studies whose steps are all finished."""

    store: Store
    studies: Sequence[Study]
    steps: Mapping[str, Sequence[Step]]
    """The steps of each study, by its name."""
    tables: Tables
    parts: Mapping[str, Part]
    scope: Scope
    left_out: Sequence[str]
    """Titles of the studies that are not in it."""
    command: str
    when: datetime

    def tables_of(self, study: Study) -> list[str]:
        return list(dict.fromkeys(step.table for step in self.steps[study.name]))


def split_names(source: str) -> list[str]:
    """The tables of a source, which may be several: "passive, passive_best"."""
    return [name for name in re.split(r"[,\s]+", source) if name]
