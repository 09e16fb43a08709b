"""Many active learners on one labelled stream, abreast: every setting, update and way to ask is a lane.

All of them see the same rows and the same draws of chance, so that they differ in what they do only.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import schedules
from steelyard.active import counter_rng, iwal
from steelyard.engine import lane_memory
from steelyard.engine.lane_layout import Layout
from steelyard.engine.model_set import crews, usable_threads
from steelyard.examples import Examples
from steelyard.learn import batched_loss, lanes, linear, query_lanes
from steelyard.losses import class_labels, decision_point
from steelyard.model import Settings

POLICIES = tuple(query_lanes.POLICIES)
_QUESTIONS = 0  # what is drawn for them


@dataclass(frozen=True)
class Asker:
    """A way to learn, and to ask: the parameter is C₀, a probability, or the farthest distance."""

    settings: Settings
    policy: str
    parameter: float

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ValueError(f"there is no policy {self.policy!r}; it is one of {', '.join(POLICIES)}")
        if not 0.0 <= self.parameter < np.inf:
            raise ValueError(
                f"the parameter of {self.policy} must be finite, 0 or more; got {self.parameter!r}"
            )
        if self.settings.scaling not in ("plain", "row_norm") or self.settings.l1 or self.settings.l2:
            raise ValueError("simulations take scaling='plain' or 'row_norm' without L1 and L2")


class Simulation:
    """Askers by number. `constants` are those of IWAL; `floor` is the least probability it may have."""

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
        self._crews = [
            _Crew([self.askers[i] for i in numbers], np.array(numbers), features, constants, floor)
            for numbers in crews(settings, self._threads)
        ]
        self._seed = seed
        self._seen = 0

    def learn(self, examples: Examples) -> None:
        """Show the rows to every asker, one after another; each reads the labels it asks for only."""
        draws = counter_rng.uniform(self._seed, _QUESTIONS, self._seen + np.arange(len(examples)))
        with ThreadPoolExecutor(min(self._threads, len(self._crews))) as pool:
            for _ in pool.map(lambda crew: crew.learn(examples, draws, self._seen), self._crews):
                pass
        self._seen += len(examples)

    def errors(self, examples: Examples) -> NDArray[np.float64]:
        """The share of these rows that each asker now takes for the other class, by weight."""
        with ThreadPoolExecutor(min(self._threads, len(self._crews))) as pool:
            wrong = self._gathered(list(pool.map(lambda crew: crew.errors(examples), self._crews)))
        return wrong / float(examples.sample_weight.sum())

    @property
    def asked(self) -> NDArray[np.float64]:
        """How many labels each has asked for."""
        return self._gathered([crew.scalars(query_lanes.ASKED) for crew in self._crews])

    @property
    def diverged(self) -> NDArray[np.bool_]:
        stopped: NDArray[np.bool_] = (
            self._gathered([crew.scalars(lanes.ALIVE) for crew in self._crews]) == 0.0
        )
        return stopped

    def _gathered(self, parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        column = np.empty(len(self.askers))
        for crew, part in zip(self._crews, parts, strict=True):
            column[crew.numbers] = part
        return column


class _Crew:
    """Askers of one loss and scaling."""

    def __init__(
        self,
        askers: list[Asker],
        numbers: NDArray[np.int64],
        features: int,
        constants: str,
        floor: float,
    ) -> None:
        self.numbers = numbers
        self._common = askers[0].settings
        self._layout = layout = Layout([asker.settings for asker in askers])
        self._weights = lane_memory.zeros((features, 1, len(layout)), self._common.dtype)
        self._state = np.zeros((query_lanes.ASKING_STATE_SIZE, len(layout)))
        self._state[[linear.SCALE, lanes.ALIVE]] = 1.0
        loss = self._common.loss
        self._forms: tuple[Any, ...] = (
            layout.bounds, layout.steps(), layout.times(), layout.pushes(),
            batched_loss.pushes_by_lane(schedules.frozen),
        )  # fmt: skip
        of = iwal.constants(constants)
        by_lane = [askers[number] for number in layout.numbers]
        self._ways = (
            np.array([each.settings.rate for each in by_lane]),
            np.array([each.settings.initial_t for each in by_lane]),
            np.array([each.settings.power_t for each in by_lane]),
            np.array([query_lanes.POLICIES[each.policy] for each in by_lane]),
            np.array([each.parameter for each in by_lane]),
            of.c1,
            of.c2,
            floor,
            self._common.scaling == "row_norm",
            float(self._common.bias),
            *class_labels(loss),
            decision_point(loss),
        )

    def learn(self, examples: Examples, draws: NDArray[np.float64], seen: int) -> None:
        with np.errstate(all="ignore"):
            query_lanes.learn(
                *examples.arrays, np.arange(len(examples)), examples.labels, draws, seen,
                self._weights, self._state, *self._ways, *self._forms,
            )  # fmt: skip

    def errors(self, examples: Examples) -> NDArray[np.float64]:
        totals = np.zeros((lanes.LANE_STATE_SIZE, len(self._layout)))
        totals[lanes.ALIVE] = self._state[lanes.ALIVE]
        loss = self._common.loss
        with np.errstate(all="ignore"):
            lanes.measure(
                *examples.arrays, np.arange(len(examples)), examples.labels[:, np.newaxis],
                examples.sample_weight[:, np.newaxis], np.zeros(0), self._weights,
                self._state[: lanes.LANE_STATE_SIZE], totals, float(self._common.bias),
                0.5 * sum(class_labels(loss)), decision_point(loss),
                np.zeros((0, len(self._layout))), batched_loss.values(loss, self._common.dtype),
            )  # fmt: skip
        wrong: NDArray[np.float64] = totals[lanes.ERROR, self._layout.place]
        return wrong

    def scalars(self, which: int) -> NDArray[np.float64]:
        column: NDArray[np.float64] = self._state[which, self._layout.place]
        return column
