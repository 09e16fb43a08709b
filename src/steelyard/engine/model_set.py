"""`ModelSet`: any number of models that learn from one stream, in as few passes over memory as possible.

Models that can learn side by side do, in blocks that share the cost of a row; blocks are learned on threads.
A model depends neither on its neighbours, nor on threads, nor on how the stream is cut.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats, Integers, Matrix
from steelyard.engine.lane_block import LaneBlock, Predict, fits_in_lanes, kind
from steelyard.engine.single_lane import SingleLane
from steelyard.examples import Examples
from steelyard.learn import lanes, linear
from steelyard.learn.batched_loss import WIDTH
from steelyard.losses import class_labels
from steelyard.model import Model
from steelyard.settings import Settings

Member = LaneBlock | SingleLane

WIDEST = 128  # lanes of a block: half as many take a tenth longer, and more are no faster
_PIECE = 8192  # rows of a turn: many, as the weights of a member that waits leave the caches


class ModelSet:
    """Models by number, in the order of their settings.

    With `coded`, labels are 0 and 1 for two classes, and each loss gets its own labels for them.
    """

    def __init__(
        self, settings: Sequence[Settings], features: int, threads: int | None = None, *, coded: bool = False
    ) -> None:
        self.settings = list(settings)
        self._coded = coded
        self.features = features
        self._threads = usable_threads(threads)
        self._members: list[tuple[Member, Integers]] = []
        for numbers in group(self.settings, self._threads):
            own = [self.settings[i] for i in numbers]
            member = LaneBlock(own, features) if fits_in_lanes(own[0]) else SingleLane(own[0], features)
            self._members.append((member, np.array(numbers)))

    def __len__(self) -> int:
        return len(self.settings)

    def learn(
        self,
        examples: Examples,
        order: Integers | None = None,
        labels: Matrix | None = None,
        sample_weight: Matrix | None = None,
        predictions: Matrix | None = None,
    ) -> None:
        """Learn the rows, or those whose numbers `order` holds, one after another in every model.

        Labels and sample_weight are those of the examples, or matrices with a row for each turn and a column
        for each model. `predictions`, such a matrix, gets what was predicted before each row was learned.
        """

        def teach(
            member: Member, numbers: Integers, part: slice, labels: Matrix, sample_weight: Matrix
        ) -> None:
            before = None if predictions is None else np.empty((len(labels), len(numbers)))
            member.learn(examples, rows[part], labels, sample_weight, before)
            if predictions is not None:
                predictions[part, numbers] = before

        rows = np.arange(len(examples)) if order is None else order
        for settings in self.settings:
            settings.check_weights(examples.sample_weight if sample_weight is None else sample_weight)
        self._in_pieces(examples, rows, labels, sample_weight, teach)

    def measure(
        self,
        examples: Examples,
        order: Integers | None = None,
        labels: Matrix | None = None,
        sample_weight: Matrix | None = None,
    ) -> tuple[Floats, Floats]:
        """Return two sums for each model without learning: losses, and weights of errors."""
        loss, error = np.zeros(len(self)), np.zeros(len(self))

        def look(
            member: Member, numbers: Integers, part: slice, labels: Matrix, sample_weight: Matrix
        ) -> None:
            lost, wrong = member.measure(examples, rows[part], labels, sample_weight)
            loss[numbers] += lost
            error[numbers] += wrong

        rows = np.arange(len(examples)) if order is None else order
        self._in_pieces(examples, rows, labels, sample_weight, look)
        return loss, error

    def _in_pieces(
        self,
        examples: Examples,
        rows: Integers,
        labels: Matrix | None,
        sample_weight: Matrix | None,
        work: Callable[..., None],
    ) -> None:
        """Let threads work on the members piece by piece of the rows; usually a thread stays with its member.

        When fewer members wait than there are threads, members take turns, or the last one would be late.
        """
        columns = examples.labels[rows, np.newaxis] if labels is None else labels
        weights = examples.sample_weight[rows, np.newaxis] if sample_weight is None else sample_weight
        waiting = deque((member, numbers, 0) for member, numbers in self._members)
        threads = min(self._threads, len(self._members))
        stopped = threading.Event()

        def work_on() -> None:
            while not stopped.is_set():
                try:
                    member, numbers, start = waiting.popleft()
                except IndexError:  # none is left, or another thread was quicker
                    return
                part = slice(start, start + _PIECE)
                own = self._labels_for(member, _select(columns[part], numbers))
                work(member, numbers, part, own, _select(weights[part], numbers))
                if part.stop < len(rows):
                    rest = member, numbers, part.stop
                    (waiting.append if len(waiting) < threads else waiting.appendleft)(rest)

        with ThreadPoolExecutor(threads) as pool:
            try:
                tasks = [pool.submit(work_on) for _ in range(threads)]
                wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                stopped.set()  # on an error, or when interrupted, no thread begins another piece
        for task in tasks:
            task.result()

    def _labels_for(self, member: Member, labels: Matrix) -> Matrix:
        if not self._coded:
            return labels
        low, high = class_labels(member.settings[0].loss)
        return np.where(labels > 0.5, high, low)

    def fix_units(self, except_for: Integers) -> None:
        """Fix the unit of all features at 1, except for these; call this before anything is learned."""
        for member, _ in self._members:
            member.fix_units(except_for)

    def hold_gains(self) -> None:
        """Make the arrays of gains, before a weight that is not whole is learned or gains are written from outside."""
        for member, _ in self._members:
            member.hold_gains()

    def list_gains(self) -> None:
        """List the features that have gains; call this after gains were written from outside."""
        for member, _ in self._members:
            member.list_gains()

    def set_rate_factor(self, factor: float) -> None:
        """Set the factor of learning rates: see `Learner.rate_factor`."""
        for member, _ in self._members:
            member.rate_factor = factor

    def predict(self, examples: Examples) -> Matrix:
        """Return w·x of each row in each model: a column for each; NaN for diverged models."""
        return self.as_it_is()(examples)

    def as_it_is(self) -> Predict:
        """Return `predict` of the models as they are now, for many calls."""
        members = [(member.as_it_is(), numbers) for member, numbers in self._members]

        def predict(examples: Examples) -> Matrix:
            predictions = np.empty((len(examples), len(self)))
            for own, numbers in members:
                predictions[:, numbers] = own(examples)
            return predictions

        return predict

    @property
    def progressive_loss(self) -> Floats:
        """The average loss of predictions made before their example was learned; NaN for the diverged."""
        return np.where(self.diverged, np.nan, self.scalars(linear.LOSS) / self._weight())

    @property
    def progressive_error(self) -> Floats:
        """The share of those predictions that were on the wrong side, for two classes."""
        return self.scalars(lanes.ERROR) / self._weight()

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Models whose predictions left the range of their numbers: they stopped learning there."""
        stopped: NDArray[np.bool_] = self.scalars(lanes.ALIVE) == 0.0
        return stopped

    def _weight(self) -> Floats:
        weight = self.scalars(linear.WEIGHT)
        return np.where(weight > 0.0, weight, np.nan)

    def scalars(self, which: int) -> Floats:
        """Return one scalar of each model, by its index in `learn.lanes` or `learn.linear`: a copy."""
        column = np.empty(len(self))
        for member, numbers in self._members:
            column[numbers] = member.scalars(which)
        return column

    def set_scalars(self, which: int, column: Floats) -> None:
        for member, numbers in self._members:
            member.set_scalars(which, column[numbers])

    def model(self, number: int) -> Model:
        """Return one of the models, as a copy that can learn on alone."""
        member, place = self._find(number)
        return member.model(place)

    def models(self, numbers: Sequence[int]) -> Iterator[Model]:
        """Yield some of the models as copies; work that grows with the features is done once."""
        met: dict[int, Integers | slice] = {}
        for number in numbers:
            member, place = self._find(number)
            if id(member) not in met:
                met[id(member)] = member.met()
            yield member.model(place, met[id(member)])

    def put(self, number: int, model: Model) -> None:
        """Let one of the models continue from a copy of this one, which has the same loss and arrays."""
        member, place = self._find(number)
        member.put(place, model)

    def _find(self, number: int) -> tuple[Member, int]:
        for member, numbers in self._members:
            if number in numbers:
                return member, int(np.flatnonzero(numbers == number)[0])
        raise IndexError(f"there are {len(self)} models, from 0; got {number}")

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all arrays that change, by name: once filled, a set of the same settings continues from there."""
        if not self._coded:
            return _named([member for member, _ in self._members])
        by_labels: dict[tuple[float, float], list[Member]] = {}
        for settings in self.settings:
            by_labels.setdefault(class_labels(settings.loss), [])
        for member, _ in self._members:
            by_labels[class_labels(member.settings[0].loss)].append(member)
        return {
            f"{place}.{name}": array
            for place, members in enumerate(by_labels.values())
            for name, array in _named(members).items()
        }


def _named(members: Sequence[Member]) -> dict[str, NDArray[np.generic]]:
    return {
        f"{place}.{name}": array
        for place, member in enumerate(members)
        for name, array in member.arrays().items()
    }


def usable_threads(given: int | None) -> int:
    """Return the threads asked for, else one for every core that this process may use."""
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))  # not on every system
    return given or len(cores(0))


def group(settings: Sequence[Settings], threads: int) -> list[list[int]]:
    """Group models that learn side by side: the numbers of the models of each block, and of each that is alone."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    alone = []
    for number, each in enumerate(settings):
        if fits_in_lanes(each):
            alike.setdefault(kind(each), []).append(number)
        else:
            alone.append([number])
    blocks = []
    for numbers in alike.values():
        vectors = _vectors(numbers, settings)
        count = max(-(-len(vectors) * WIDTH // WIDEST), 1)
        count = min(-(-count // threads) * threads, len(vectors))  # work for every thread
        ends = [-(-len(vectors) * (i + 1) // count) for i in range(count)]  # larger ones first
        for start, end in zip([0, *ends], ends, strict=False):
            blocks.append([number for vector in vectors[start:end] for number in vector])
    return blocks + alone


def _vectors(numbers: list[int], settings: Sequence[Settings]) -> list[list[int]]:
    """Group models into vectors of lanes: those of one update together, ordered by schedule.

    So a block has few schedules, and computes each of them once for all of its lanes.
    """
    by_update: dict[str, list[int]] = {}
    for number in sorted(numbers, key=lambda number: (settings[number].power_t, settings[number].initial_t)):
        by_update.setdefault(settings[number].update, []).append(number)
    return [own[start : start + WIDTH] for own in by_update.values() for start in range(0, len(own), WIDTH)]


def _select(columns: Matrix, numbers: Integers) -> Matrix:
    return columns if columns.shape[1] == 1 else columns[:, numbers]
