"""The studies, one a file, in the order of the report."""

from paper.studies.active import Active
from paper.studies.adaptive_rates import AdaptiveRates
from paper.studies.bandit import Bandit
from paper.studies.boosting import Boosting
from paper.studies.costs import Costs
from paper.studies.covariate_shift import CovariateShift
from paper.studies.passive import Passive
from paper.studies.regularisation import Regularisation
from paper.studies.safety import Safety
from paper.studies.second_order import SecondOrder
from paper.studies.section2 import Section2
from paper.studies.table1 import Table1
from paper.studies.weight_range import WeightRange
from paper.study import Study

ALL: tuple[Study, ...] = (
    Table1(),
    Section2(),
    WeightRange(),
    Active(),
    Passive(),
    AdaptiveRates(),
    SecondOrder(),
    Regularisation(),
    Safety(),
    Boosting(),
    CovariateShift(),
    Bandit(),
    Costs(),
)
