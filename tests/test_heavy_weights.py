"""L1 and L2 are paid once for each unit of weight, so weights that would take for ever are refused."""

import numpy as np
import pytest

from steelyard import losses
from steelyard.engine.model_set import ModelSet
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.settings import Settings


@pytest.mark.parametrize("penalty", [{"l1": 0.1}, {"l2": 0.1}])
def test_weights_too_large_for_penalties(penalty: dict[str, float]) -> None:
    settings = Settings(losses.by_name("logistic"), **penalty)  # type: ignore[arg-type]
    rows = examples(np.ones((1, 1)), [1.0], [2e7])
    for learns in (Learner(settings, 1), ModelSet([settings], 1)):
        with pytest.raises(ValueError, match=r"2e\+07 is too large for l1 and l2, .* none is above 1e\+07"):
            learns.learn(rows)
    Learner(Settings(losses.by_name("logistic"), update="implicit", **penalty), 1).learn(rows)  # type: ignore[arg-type]
