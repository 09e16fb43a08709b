"""Many active learners on one labelled stream, side by side: every setting, update and strategy is a lane.

All of them see the same rows and the same random numbers, so they differ only in what they do. The paper's
experiment tries every schedule with every C₀ so.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard import schedules
from steelyard._parameters import Message, Parameter
from steelyard.active import counter_rng, strategies
from steelyard.active.strategies import iwal
from steelyard.engine import lane_answers, lane_layout
from steelyard.engine.lane_layout import Layout
from steelyard.engine.model_set import group, usable_threads
from steelyard.examples import Examples
from steelyard.learn import batched_loss, lanes, linear, query_lanes
from steelyard.losses import class_labels, decision_point
from steelyard.model import Settings

_QUESTIONS = 0  # the purpose of these random numbers


@dataclass(frozen=True)
class Asker:
    """How to learn and how to ask: the parameter is C₀, a probability, or the largest distance."""

    settings: Settings
    strategy: str
    parameter: float

    def __post_init__(self) -> None:
        if strategies.by_name(self.strategy).lane_code is None:
            raise ValueError(f"the strategy {self.strategy!r} cannot be simulated side by side")
        if not 0.0 <= self.parameter < np.inf:
            raise ValueError(
                f"the parameter of {self.strategy} must be finite, 0 or more; got {self.parameter!r}"
            )
        if self.settings.scaling not in ("plain", "row_norm") or self.settings.l1 or self.settings.l2:
            raise ValueError(
                Message(
                    "simulations take ", Parameter("scaling", "plain"), " or 'row_norm' without L1 and L2"
                )
            )


class Simulation:
    """Askers by number. `constants` and `floor`, the least probability, are those of IWAL."""

    def __init__(
        self,
        askers: Sequence[Asker],
        features: int,
        *,
        constants: str = "practice",
        floor: float = 0.0,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.askers = list(askers)
        self._threads = usable_threads(threads)
        settings = [asker.settings for asker in askers]
        self._blocks = [
            _LearnerBlock([self.askers[i] for i in numbers], np.array(numbers), features, constants, floor)
            for numbers in group(settings, self._threads)
        ]
        self._seed = seed
        self._seen = 0

    def learn(self, examples: Examples) -> None:
        """Show the rows to every asker, one after another; each reads only the labels it asks for."""
        draws = counter_rng.uniform(self._seed, _QUESTIONS, self._seen + np.arange(len(examples)))
        with ThreadPoolExecutor(min(self._threads, len(self._blocks))) as pool:
            for _ in pool.map(lambda block: block.learn(examples, draws, self._seen), self._blocks):
                pass
        self._seen += len(examples)

    def errors(self, examples: Examples) -> NDArray[np.float64]:
        """The weighted share of these rows that each asker now classifies wrongly."""
        with ThreadPoolExecutor(min(self._threads, len(self._blocks))) as pool:
            wrong = self._gathered(list(pool.map(lambda block: block.errors(examples), self._blocks)))
        return wrong / float(examples.sample_weight.sum())

    @property
    def asked(self) -> NDArray[np.float64]:
        return self._gathered([block.scalars(query_lanes.ASKED) for block in self._blocks])

    @property
    def diverged(self) -> NDArray[np.bool_]:
        stopped: NDArray[np.bool_] = (
            self._gathered([block.scalars(lanes.ALIVE) for block in self._blocks]) == 0.0
        )
        return stopped

    def _gathered(self, parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        column = np.empty(len(self.askers))
        for block, part in zip(self._blocks, parts, strict=True):
            column[block.numbers] = part
        return column


class _LearnerBlock:
    """Askers with the same loss and scaling."""

    def __init__(
        self, askers: list[Asker], numbers: NDArray[np.int64], features: int, constants: str, floor: float
    ) -> None:
        self.numbers = numbers
        self._common = askers[0].settings
        self._layout = layout = Layout([asker.settings for asker in askers])
        self._weights = lane_layout.zeros((features, 1, len(layout)), self._common.dtype)
        self._state = np.zeros((query_lanes.ASKING_STATE_SIZE, len(layout)))
        self._state[[linear.SCALE, lanes.ALIVE]] = 1.0
        of = iwal.constants(constants)
        by_lane = [askers[number] for number in layout.numbers]
        self._rule = query_lanes.Rule(
            np.array([each.settings.rate for each in by_lane]),
            np.array([each.settings.initial_t for each in by_lane]),
            np.array([each.settings.power_t for each in by_lane]),
            np.array([strategies.by_name(each.strategy).lane_code for each in by_lane]),
            np.array([each.parameter for each in by_lane], np.float64),
            of.c1, of.c2, floor, self._common.scaling == "row_norm",
            float(self._common.bias), *class_labels(self._common.loss), decision_point(self._common.loss),
            layout.bounds, layout.steps(), layout.times(), layout.pushes(),
            batched_loss.pushes_by_lane(schedules.frozen),
        )  # fmt: skip

    def learn(self, examples: Examples, draws: NDArray[np.float64], seen: int) -> None:
        with np.errstate(all="ignore"):
            query_lanes.learn(
                *examples.arrays, np.arange(len(examples)), examples.labels, draws, seen,
                self._weights, self._state, self._rule, query_lanes.scratch_for(self._weights),
            )  # fmt: skip

    def errors(self, examples: Examples) -> NDArray[np.float64]:
        totals = np.zeros((lanes.LANE_STATE_SIZE, len(self._layout)))
        totals[lanes.ALIVE] = self._state[lanes.ALIVE]
        with np.errstate(all="ignore"):
            lane_answers.look(
                self._common, (self._weights, self._state[: lanes.LANE_STATE_SIZE]),
                examples, np.arange(len(examples)), examples.labels[:, np.newaxis],
                examples.sample_weight[:, np.newaxis], totals, np.zeros((0, len(self._layout))),
            )  # fmt: skip
        wrong: NDArray[np.float64] = totals[lanes.ERROR, self._layout.place]
        return wrong

    def scalars(self, which: int) -> NDArray[np.float64]:
        column: NDArray[np.float64] = self._state[which, self._layout.place]
        return column
