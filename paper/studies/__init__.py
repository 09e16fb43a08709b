"""The studies, one a file, in the order of the report."""

from paper.studies.passive import Passive
from paper.study import Study

ALL: tuple[Study, ...] = (
    Passive(),
)  # fmt: skip
