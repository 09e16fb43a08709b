"""The studies, one a file, in the order of the report."""

from paper.studies.section2 import Section2
from paper.studies.table1 import Table1
from paper.studies.weight_range import WeightRange
from paper.study import Study

ALL: tuple[Study, ...] = (
    Table1(),
    Section2(),
    WeightRange(),
)
