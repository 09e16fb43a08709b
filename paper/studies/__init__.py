"""The studies, one a file, in the order of the report."""

from paper.studies.adaptive_rates import AdaptiveRates
from paper.studies.passive import Passive
from paper.studies.regularisation import Regularisation
from paper.studies.safety import Safety
from paper.studies.second_order import SecondOrder
from paper.study import Study

ALL: tuple[Study, ...] = (
    Passive(),
    AdaptiveRates(),
    SecondOrder(),
    Regularisation(),
    Safety(),
)
