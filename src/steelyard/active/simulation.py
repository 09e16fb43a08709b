"""Many active learners on one labelled stream, side by side: every setting, update and strategy is a lane.

All of them see the same rows and the same random numbers, so they differ only in what they do. The paper's
experiment is `try_grid`: every schedule with every C₀, and the best settings in hindsight.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard import losses, schedules
from steelyard.active import counter_rng, strategies
from steelyard.active.strategies import iwal
from steelyard.engine import lane_answers, lane_layout
from steelyard.engine.lane_layout import Layout
from steelyard.engine.model_set import group, usable_threads
from steelyard.examples import Examples
from steelyard.learn import batched_loss, lanes, linear, query_lanes
from steelyard.losses import class_labels, decision_point
from steelyard.model import Settings
from steelyard.sweep import plan

Column = NDArray[np.float64]
Points = NDArray[np.float64]
Schedule = tuple[float, float, float]
"""Learning rate, initial t and power of t."""

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
            raise ValueError("simulations take scaling='plain' or 'row_norm' without L1 and L2")


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


def try_grid(
    strategy: str, update: str, grid: Sequence[Schedule], learned: Examples, tested: Examples, seed: int
) -> Points:
    """The fraction of labels and the test error of every schedule with every parameter of the strategy.

    Squared loss, rates divided by x·x, no bias, every answer learned once. Askers that diverged are left out:
    they ask no more, and that is no saving.
    """
    points = []
    for askers in _rounds(strategy, update, grid, learned.features):
        simulation = Simulation(askers, learned.features, seed=seed)
        simulation.learn(learned)
        trials = np.column_stack([simulation.asked / len(learned), simulation.errors(tested)])
        points.append(trials[~simulation.diverged])
    return np.concatenate(points)


def _rounds(strategy: str, update: str, grid: Sequence[Schedule], features: int) -> Iterator[list[Asker]]:
    """The askers in groups whose weights fit into memory."""
    loss = losses.by_name("squared")
    askers = [
        Asker(Settings(loss, update, "row_norm", *schedule, bias=False), strategy, parameter)
        for parameter in strategies.by_name(strategy).lane_parameters
        for schedule in grid
    ]
    together = plan.plan([asker.settings for asker in askers], features, 2, plan.memory_of(None))
    for numbers in together.rounds:
        yield [askers[number] for number in numbers]


def hull(fractions: Column, errors: Column) -> Points:
    """The corners of the lower convex hull of many trials, from the smallest fraction to the least error.

    That is what one could have reached by choosing settings in hindsight, as the paper draws it.
    """
    order = np.lexsort((errors, fractions))
    corners: list[tuple[float, float]] = []
    for x, y in zip(fractions[order].tolist(), errors[order].tolist(), strict=True):
        while len(corners) >= 2 and _turns_up(corners[-2], corners[-1], (x, y)):
            corners.pop()
        if not corners or y < corners[-1][1]:
            corners.append((x, y))
    return np.array(corners)


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the straight line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])
