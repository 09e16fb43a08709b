"""The lanes of models, the memory of their weights, and the pushes of their schedules."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import schedules, updates
from steelyard._array_types import Floats
from steelyard._buffer_pool import spacious
from steelyard.array_table import LANE_PARTS
from steelyard.learn import batched_loss, lanes
from steelyard.learn.batched_loss import WIDTH
from steelyard.learn.lane_parts import numbers_before
from steelyard.learn.lanes import CUTS, SKIPS, TAKES_WHOLE
from steelyard.model import Model
from steelyard.native import methods
from steelyard.settings import Settings


class Layout:
    """The lane of each model. Lanes of one update lie side by side, with spare ones to fill whole vectors."""

    def __init__(self, settings: Sequence[Settings]) -> None:
        self.place = np.empty(len(settings), np.int64)
        """The lane of each model."""
        self.numbers: list[int] = []
        """The model of each lane. A spare lane copies its neighbour: an idle one would compute with subnormal
        numbers, which are slow."""
        self.bounds = np.zeros(len(updates.names()) + 1, np.int64)
        """Where the lanes of each update begin and end."""
        for i, name in enumerate(updates.names()):
            own = [number for number, each in enumerate(settings) if each.update == name]
            self.place[own] = len(self.numbers) + np.arange(len(own))
            self.numbers += own + own[-1:] * (-len(own) % WIDTH)
            self.bounds[i + 1] = len(self.numbers)
        self.settings = [settings[number] for number in self.numbers]
        self.multiply = np.array([each.update == "explicit" for each in self.settings])
        """Which lanes square the gradient times the weight."""
        self.splitting = np.full(len(self), SKIPS)
        """What each lane does with rows that are not one step (see `lanes`)."""
        self.splitting[[each.update != "invariant" for each in self.settings]] = TAKES_WHOLE
        splits = self.place[[each.update == "invariant" for each in settings]]
        self.splitting[splits] = CUTS
        self.cuts = len(splits) > 0

    def __len__(self) -> int:
        return len(self.numbers)

    def steps(self) -> Any:
        """Return the array form of each update; a form that no lane has is never called, and not compiled."""
        loss, dtype = self.settings[0].loss, self.settings[0].dtype
        return batched_loss.table(
            [batched_loss.steps(loss, update.step, dtype) for update in self._updates()]
        )

    def single_forms(self) -> tuple[Any, Any, Any]:
        """Return the forms for one prediction: those that `epochs` needs."""
        loss = self.settings[0].loss
        return (
            methods.step_pointer(loss, updates.by_name("invariant").step),
            methods.pointer(loss, "value"),
            methods.pointer(loss, "derivative"),
        )

    def times(self) -> Any:
        """Return the forms of each update that find the push for a change."""
        loss, dtype = self.settings[0].loss, self.settings[0].dtype
        return batched_loss.table(
            [batched_loss.times(loss, update.time, dtype) for update in self._updates()]
        )

    def pushes(self) -> Any:
        """Return the forms of each update that integrate the rate over the stretch of the clock of a row."""
        pushes = [
            schedules.frozen if update.freezes_rate else schedules.integral for update in self._updates()
        ]
        return batched_loss.table([batched_loss.pushes_by_lane(each) for each in pushes])

    def _updates(self) -> list[updates.Update]:
        used = {each.update for each in self.settings}
        stand_in = self.settings[0].update
        return [updates.by_name(name if name in used else stand_in) for name in updates.names()]


def singles(settings: Settings) -> int:
    """Return how many numbers of such a model make a float64."""
    return 8 // np.dtype(settings.dtype).itemsize


def numbers_a_feature(settings: Settings) -> int:
    """Return how many numbers a lane has for each feature: see `lane_parts`."""
    one = Model(settings, 1)
    last = max(part for part, array in LANE_PARTS if len(array.of(one)))
    return numbers_before(last + 1, singles(settings))


_LINE = 64  # bytes: numbers across two lines of a cache take as long to fetch as both lines
_FRESH = 64 << 20  # bytes: smaller arrays are mostly used anyway, and huge pages are faster


def zeros(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Return zeros that begin with a cache line, in memory that is taken when it is first written to.

    Features are hashed: the words of a small text are scattered over an array of a million features.
    """
    count = math.prod(shape)
    size = count * np.dtype(dtype).itemsize
    if size >= _FRESH:
        return spacious(count, dtype).reshape(shape)
    buffer = np.zeros(size + _LINE, np.uint8)
    start = -buffer.ctypes.data % _LINE
    return buffer[start : start + size].view(dtype).reshape(shape)


def after(totals: Floats, sample_weight: NDArray[np.float64]) -> Floats:
    """Return each lane's total plus the weights of all turns, added one by one: the same in any chunks."""
    if sample_weight.shape[1] > 1:
        ends_by_lane: Floats = np.cumsum(np.vstack((totals, sample_weight)), axis=0)[-1]
        return ends_by_lane
    ends = {start: float(np.cumsum(np.append(start, sample_weight))[-1]) for start in set(totals.tolist())}
    return np.array([ends[start] for start in totals.tolist()])


def pushes(
    settings: Sequence[Settings], clocks: Floats, fractions: Floats, sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return ∫ η over each turn for a learning rate of 1: a table of columns, and the column of each lane.

    Lanes share a column if they have the same schedule and equal clocks.
    """
    together = sample_weight.shape[1] == 1
    columns: dict[tuple[float, ...], int] = {}
    column = np.empty(len(settings), np.int64)
    filled = []
    for lane, each in enumerate(settings):
        # the explicit update takes the rate at the start; without decay the rate is constant anyway
        frozen = each.update == "explicit" or each.power_t == 0.0
        initial_t = each.initial_t if each.power_t > 0.0 else 1.0
        ticks = each.l2 > 0.0
        now = clocks[lane], fractions[lane], ticks
        alike = (frozen, initial_t, each.power_t, *now, 0 if together else lane)
        if alike not in columns:
            columns[alike] = len(columns)
            moments = batched_loss.pushes(schedules.frozen if frozen else schedules.integral)
            turns = np.ascontiguousarray(sample_weight[:, alike[-1]])
            filled.append(lanes.pushes_of(now, turns, initial_t, each.power_t, moments))
        column[lane] = columns[alike]
    return np.stack(filled, axis=1), column
