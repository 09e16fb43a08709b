"""Losses that call two classes by different labels."""

import numpy as np
import pytest

from steelyard import losses
from steelyard.engine.two_classes import TwoClasses
from steelyard.learner import Learner
from steelyard.model import Settings
from tests.engine.problems import FEATURES, two_classes

SETTINGS = [
    Settings(losses.by_name(name), learning_rate=rate, scaling="row_norm")
    for rate in (0.1, 0.2)
    for name in ("tanh_logarithmic", "squared")
]


def test_models_by_number() -> None:
    rows = two_classes(40)
    contest = TwoClasses(SETTINGS, FEATURES)
    contest.learn(rows, np.arange(40))
    for number, settings in enumerate(SETTINGS):
        model = contest.model(number)
        assert model.settings == settings
        assert model.progressive_loss == contest.progressive_loss[number]
        assert np.isfinite(Learner(model=model).predict(rows)).all()
    with pytest.raises(IndexError, match="there are 4 models, from 0; got 4"):
        contest.model(4)
