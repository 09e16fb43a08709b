"""The studies, one a file, in the order of the report."""

from paper.studies.active import Active
from paper.study import Study

ALL: tuple[Study, ...] = (Active(),)
