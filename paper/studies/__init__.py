"""The studies, one a file, in the order of the report."""

from paper.study import Study

ALL: tuple[Study, ...] = ()
