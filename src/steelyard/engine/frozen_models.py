"""Models of a file that predict and do not learn: what only learning needs is neither read nor kept."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from steelyard.engine import lane_answers
from steelyard.engine.lane_answers import LaneAnswers
from steelyard.engine.lane_block import fits_in_lanes
from steelyard.engine.lane_layout import Layout, zeros
from steelyard.engine.model_set import group
from steelyard.examples import Examples
from steelyard.learn import lanes, linear, shrinkage
from steelyard.learn.lane_parts import COEFFICIENT
from steelyard.model import Model
from steelyard.model_file import EngineState
from steelyard.settings import Settings


def can_freeze(state: EngineState) -> bool:
    """Whether each model answers by itself: settings that compete do not, nor classes that learn alone."""
    return len(state.settings) == 1 and (state.models_each == 1 or fits_in_lanes(state.settings[0]))


def freeze(model: Model) -> Model:
    """The same predictions by plain coefficients."""
    copy = Model(frozen_settings(model.settings), 0)
    copy.features, copy.pairs = model.features, np.ascontiguousarray(model.coefficients())
    copy.state[:] = frozen_state(model, model.bias)
    return copy


def frozen_settings(settings: Settings) -> Settings:
    """Settings for a model that has nothing but coefficients."""
    return replace(settings, scaling="plain", average=None, l1=0.0, l2=0.0, follow_labels=False)


def frozen_state(model: Model, bias: float) -> NDArray[np.float64]:
    """The clock and the progressive figures of a model, and nothing pending."""
    state = model.state.copy()
    state[linear.BIAS] = bias
    state[linear.SCALE] = 1.0
    state[[linear.L1_TOTAL, linear.BIAS_LAG, linear.REFERENCE, *shrinkage.SCALARS]] = 0.0
    return state


class FrozenModels:
    """One model for each class, side by side, as `OneVsRest` would predict with them."""

    def __init__(self, state: EngineState, models: Iterator[Model]) -> None:
        self.settings, self.classes = state.settings, state.classes
        assert state.alive is not None
        blocks = group(state.settings * state.classes, threads=1)
        assert list(chain(*blocks)) == list(range(state.classes)), "models come in the order of their classes"
        self._blocks = [
            _block(state.settings[0], islice(models, len(numbers)), state.alive[numbers])
            for numbers in blocks
        ]

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row in each model."""
        return np.hstack([block.predict(examples) for block in self._blocks])


def _block(settings: Settings, models: Iterator[Model], alive: NDArray[np.float64]) -> LaneAnswers:
    """As `LaneBlock` would predict, had it been given these models."""
    layout = Layout([settings] * len(alive))
    state = np.zeros((lanes.LANE_STATE_SIZE, len(layout)))
    state[linear.SCALE] = 1.0
    answers = np.zeros((0, 1, len(layout)))
    for lane, model in zip(layout.place, models, strict=True):
        if not len(answers):
            kind = lane_answers.answers_type(settings, model.columns)
            answers = zeros((model.features, 1, len(layout)), kind)
        own, state[: linear.STATE_SIZE, lane] = answers[:, COEFFICIENT, lane], model.state
        if settings.scaling == "standardized":
            own_state = model.state[:, np.newaxis]
            fading = lane_answers.fading_of(settings, own_state)
            lane_answers.raw_units(model.raw_coefficients, model.units, model.lag, own_state, fading, own)
        else:
            own[:] = model.raw_coefficients
    state[lanes.ALIVE, layout.place] = alive
    if settings.scaling == "standardized":
        fading = lane_answers.fading_of(settings, state)
        state = lane_answers.state_from_origins(state, fading, model.columns, answers)
    return LaneAnswers(settings, layout, answers, state)
