"""The studies, in the order of the report: the paper's tables and figures, then questions of our own."""

from paper.studies.active import Active
from paper.studies.adaptive_rates import AdaptiveRates
from paper.studies.bandit import Bandit
from paper.studies.boosting import Boosting
from paper.studies.budget import Budget
from paper.studies.choices import Choices
from paper.studies.costs import Costs
from paper.studies.covariate_shift import CovariateShift
from paper.studies.passive import Passive
from paper.studies.regularisation import Regularisation
from paper.studies.safety import Regret, Safety
from paper.studies.second_order import SecondOrder
from paper.studies.section2 import Section2
from paper.studies.slips import Slips
from paper.studies.speed import Speed
from paper.studies.table1 import Table1
from paper.studies.weight_range import WeightRange
from paper.study import Study

ALL: tuple[Study, ...] = (
    Table1(),
    Safety(),
    Active(),
    Passive(),
    Speed(),
    Choices(),
    Slips(),
    Section2(),
    WeightRange(),
    Regret(),
    Regularisation(),
    AdaptiveRates(),
    SecondOrder(),
    Budget(),
    Boosting(),
    CovariateShift(),
    Bandit(),
    Costs(),
)
