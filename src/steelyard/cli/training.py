"""Learning a stream of files: passes, and rows held out. What is shown meanwhile is not its business."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from steelyard import weight_summary
from steelyard.cli.baseline import LabelWeights
from steelyard.examples import Examples
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.stream import Stream
from steelyard.learn import linear
from steelyard.learn.rows import fill_pairs
from steelyard.learner import Learner
from steelyard.model import Model
from steelyard.numba_tools import jit

_PROGRESS = [linear.LOSS, linear.WEIGHT]
NOTHING_BEFORE = (0.0, 0.0)


@dataclass
class Totals:
    """What has been learned, over all chunks of the first pass, and what was held out in the latest."""

    rows: int = 0
    learned: int = 0
    labels: LabelWeights = field(default_factory=LabelWeights)
    weights: weight_summary.WeightSummary = weight_summary.NOTHING
    held_loss: float = 0.0
    held_weight: float = 0.0
    last_label: float | None = None
    label_changes: int = 0
    before: tuple[float, float] = NOTHING_BEFORE
    """Loss and weight of the model when the run began: not nothing, if it went on from another."""

    @property
    def held_out_loss(self) -> float | None:
        return self.held_loss / self.held_weight if self.held_weight > 0.0 else None


@dataclass(frozen=True)
class Learned:
    """One chunk, just learned: for whoever shows it."""

    examples: Examples
    predictions: NDArray[np.float64]
    before: tuple[float, float]
    """Loss and weight of the model before the chunk."""
    first: int
    """The number of the chunk's first row in its pass, from 0."""
    pass_number: int


class Training:
    """A model that learns streams. `position` says how far it is: (passes done, rows of the next one)."""

    def __init__(self, model: Model, holdout: int | None = None, position: tuple[int, int] = (0, 0)) -> None:
        self.learner = Learner(model=model)
        self.totals = Totals(before=so_far(model))
        self.position = position
        self.holdout = holdout
        self.rows_read = self.bytes_read = 0
        """In this run, over all passes: what its speed is made of."""

    def run(
        self,
        stream: Callable[[], Stream],
        passes: int,
        watch: Callable[[Learned, Stream], None],
    ) -> Stream:
        """All passes that are left; returns the stream of the first, which knows what was skipped."""
        first = None
        while self.position[0] < passes:
            opened = stream()
            self._pass(opened, watch)
            first = first or opened
        return first or stream()

    def _pass(self, stream: Stream, watch: Callable[[Learned, Stream], None]) -> None:
        done, skip = self.position
        if skip == 0:
            self.totals.held_loss = self.totals.held_weight = 0.0
        row = 0
        for parsed in stream:
            end = row + len(parsed.examples)
            if end > skip:
                fresh = parsed.take(np.arange(skip - row, end - row)) if skip > row else parsed
                learned = self._learn(fresh, end - len(fresh.examples), done)
                self.position = done, end
                watch(learned, stream)
            row = end
        self.rows_read += row
        self.bytes_read += stream.position
        self.position = done + 1, 0

    def _learn(self, parsed: ParsedBlock, first: int, done: int) -> Learned:
        examples = parsed.examples
        model = self.learner.model
        before = so_far(model)
        held = self._held(first, len(examples))
        learning = (
            replace(examples, sample_weight=np.where(held, 0.0, examples.sample_weight))
            if held is not None
            else examples
        )
        predictions = self.learner.learn(learning)
        if held is not None:
            self._count_held(examples, predictions, held)
        if done > 0:  # later passes have seen their labels: the progressive loss is that of the first
            model.state[_PROGRESS] = before
        else:
            self._count(learning)
        return Learned(learning, predictions, before, first, done)

    def _held(self, first: int, count: int) -> NDArray[np.bool_] | None:
        """Every so many rows one is held out, by its number in the stream: the same ones in every pass."""
        if self.holdout is None:
            return None
        held: NDArray[np.bool_] = np.arange(first + 1, first + count + 1) % self.holdout == 0
        return held

    def _count(self, examples: Examples) -> None:
        self.totals.rows += len(examples)
        self.totals.learned += int(np.count_nonzero(examples.sample_weight))
        self.totals.labels.add(examples.labels, examples.sample_weight)
        labels = examples.labels[examples.sample_weight > 0.0]
        if len(labels):
            before = labels[0] if self.totals.last_label is None else self.totals.last_label
            self.totals.label_changes += int(np.count_nonzero(np.diff(labels, prepend=before)))
            self.totals.last_label = float(labels[-1])
        with np.errstate(over="ignore"):  # weights that add up to infinity are noticed in the model
            summary = weight_summary.summarise(examples.sample_weight)
        self.totals.weights = self.totals.weights.followed_by(summary)

    def _count_held(
        self, examples: Examples, predictions: NDArray[np.float64], held: NDArray[np.bool_]
    ) -> None:
        counted = held & (examples.sample_weight > 0.0)
        weights = examples.sample_weight[counted]
        values = losses_of(self.learner.model, predictions[counted], examples.labels[counted])
        self.totals.held_loss += float(weights @ values)
        self.totals.held_weight += float(weights.sum())


def so_far(model: Model) -> tuple[float, float]:
    """The sum of its progressive losses, and of their weights."""
    loss, weight = model.state[_PROGRESS].tolist()
    return loss, weight


def losses_of(
    model: Model, predictions: NDArray[np.float64], labels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """ℓ(p, y) of each row."""
    values = np.empty(len(predictions))
    with np.errstate(all="ignore"):
        fill_pairs(jit.pointer(model.settings.loss, "value"), predictions, labels, values)
    return values
