"""How good is the model? Estimates from the labels that were paid for, each named for what it estimates.

- `progressive`: the models so far. Every row is scored by the prediction made *before* it was learned, and
  the scores are averaged over all rows seen, asked or not. Models and rows may change over time.
- `current`: the present model. Every row is scored by the model as it is now, which must not have learned
  from that row: a cross-validated model, or rows of an audit that are never learned.
- `pool`: this finite pool, as it would be handed over now: answers where there are answers, predictions made
  before the random draw elsewhere. Nothing is assumed about the rows; only the draws are random.

All take a `LabelSample` and a measure: error, loss, precision or recall. Intervals are valid at any stopping
time. Questions that were skipped count at their worst on both sides.

>>> import numpy as np
>>> from steelyard.active.label_sample import from_losses
>>> wrong = np.arange(2000) % 20 == 0
>>> print(progressive(from_losses(np.ones(2000), np.ones(2000), wrong)))
progressive error: 0.050 (95 % interval 0.033–0.071, valid at any stopping time; 2,000 of 2,000 rows asked)
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard._messages import counted, did_you_mean
from steelyard.active.confidence import POOL, RISK, Array, ConfidenceSequence, Flags, SumBounds
from steelyard.active.label_sample import LabelSample

ESTIMANDS = ("progressive", "current", "pool")
MEASURES = ("error", "loss", "precision", "recall")
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A figure with an interval that is valid at any stopping time; NaN where nothing is known."""

    of: str
    """progressive, current or pool."""
    measure: str
    value: float
    low: float
    high: float
    level: float
    rows: int
    asked: int
    skipped: int
    """Questions without an answer: skipped, or still open."""
    positive: str | int | float | bool | None = None
    """The class whose precision or recall it is."""

    @property
    def title(self) -> str:
        return f"{self.of} {self.measure}" + ("" if self.positive is None else f" of {self.positive!r}")

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def answered(self) -> int:
        """The number of labels behind it."""
        return self.asked - self.skipped

    def __str__(self) -> str:
        value = "unknown" if np.isnan(self.value) else f"{self.value:.3f}"
        skipped = f"; {self.skipped:,} not answered, counted at their worst" if self.skipped else ""
        return (
            f"{self.title}: {value} ({100.0 * self.level:g} % interval {self.low:.3f}–"
            f"{self.high:.3f}, valid at any stopping time; "
            f"{self.asked:,} of {counted(self.rows, 'row')} asked{skipped})"
        )


class EstimatePath(NamedTuple):
    """Values with their bounds: now, or one entry for each time."""

    value: Array
    low: Array
    high: Array


class RunningEstimate:
    """An estimate that grows with the stream, by one row or many at a time: `progressive`, or `pool`."""

    def __init__(
        self, of: str, measure: str = "error", level: float = LEVEL, size: int | None = None, look: int = 1
    ) -> None:
        _check_name("estimate of", of, ESTIMANDS)
        _check_name("measure", measure, MEASURES)
        if not 0.0 < level < 1.0:
            raise ValueError(f"the level of confidence must lie between 0 and 1, as 0.95 does; got {level}")
        self.of, self.measure, self.level, self.size = of, measure, level, size
        self._alpha = risk_of_look(1.0 - level, look)
        self._sequences: list[ConfidenceSequence] = []
        self._unknowns, self._largest = 1, 1.0
        self.rows = self.asked = self.skipped = 0

    def add(self, sample: LabelSample) -> None:
        for sequence, part in self._prepare(sample):
            sequence.add(*part.columns(sample))

    def path(self, sample: LabelSample) -> EstimatePath:
        """Add rows, and return the estimate with its bounds before them and after each of them."""
        rows = self.rows
        sums = []
        for sequence, part in self._prepare(sample):
            times = np.concatenate([[0], np.cumsum(part.taken)])
            sums.append(sequence.path(*part.columns(sample), self._alpha / self._unknowns).at(times))
        return self._combine(sums, rows + np.arange(len(sample) + 1.0))

    def estimate(self) -> Estimate:
        sums = [each.bounds(self._alpha / self._unknowns) for each in self._sequences]
        path = self._combine(sums, np.array(float(self.rows))) if sums else _NOTHING
        value, low, high = (float(each) for each in path)
        return Estimate(
            self.of, self.measure, value, low, high, self.level, self.rows, self.asked, self.skipped
        )

    def _prepare(self, sample: LabelSample) -> list[tuple[ConfidenceSequence, "_RowGroup"]]:
        parts = _parts(self.measure, sample)
        if not self._sequences:
            bet = POOL if self.of == "pool" else RISK
            self._sequences = [ConfidenceSequence(bet, part.guess is not None) for part in parts]
            self._unknowns, self._largest = _unknowns(self.measure, sample), sample.largest
        same = (self._unknowns, self._largest) == (_unknowns(self.measure, sample), sample.largest)
        if not same or self._sequences[0].given != (parts[0].guess is not None):
            raise ValueError(
                "guesses and predictions must come with all rows or with none, "
                "and the largest loss must stay the same"
            )
        if self.size is not None and self.rows + len(sample) > self.size:
            raise ValueError(
                f"the pool has {counted(self.size, 'row')}, but {self.rows + len(sample):,} were added: "
                "each row is added once; for a second pass make another pool, with P = 1 for answered rows"
            )
        self.rows += len(sample)
        self.asked += int(sample.asked.sum())
        self.skipped += sample.skipped
        return list(zip(self._sequences, parts, strict=True))

    def _combine(self, sums: list[SumBounds], rows: Array) -> EstimatePath:
        if self.of == "pool":
            unseen = np.zeros_like(rows) if self.size is None else self.size - rows
            shares = _pool(self.measure, sums, unseen)
        else:
            shares = _risk(self.measure, sums, self._unknowns)
        return EstimatePath(*(self._largest * each for each in shares))


_NOTHING = EstimatePath(np.array(np.nan), np.array(0.0), np.array(1.0))


def progressive(sample: LabelSample, measure: str = "error", level: float = LEVEL) -> Estimate:
    """The models so far, on average; each prediction was made before its row was learned."""
    running = RunningEstimate("progressive", measure, level)
    running.add(sample)
    return running.estimate()


def current(
    sample: LabelSample, learned: ArrayLike, measure: str = "error", level: float = LEVEL, look: int = 1
) -> Estimate:
    """The present model, which scored all rows and must not have `learned` any that was asked for.

    A model that has changed since the last look is another model. For the intervals of all looks to be valid
    at once, number them from 1: look j may be wrong with probability (1 − level)/(j(j + 1)), and these add up
    to 1 − level. Looking whenever the number of labels has grown by a tenth costs little.
    """
    trained = np.asarray(learned)
    if trained.shape != sample.asked.shape:
        raise ValueError(
            f"there are {counted(len(sample), 'row')}, but 'learned' has the shape {trained.shape}"
        )
    bad = np.flatnonzero(trained.astype(bool) & sample.asked)
    if len(bad):
        raise ValueError(
            f"row {bad[0]} was learned by the model that scored it: such a score is far too good. "
            "Score it with a model that did not learn it (cross-validation), or keep rows for an audit"
        )
    running = RunningEstimate("current", measure, level, look=look)
    running.add(sample)
    return running.estimate()


def pool(
    sample: LabelSample, measure: str = "error", level: float = LEVEL, size: int | None = None, look: int = 1
) -> Estimate:
    """This pool of `size` rows (by default those given); rows not reached yet count at their worst.

    A second pass over the rest is a pool of its own: rows answered before enter it with probability 1. For
    both passes to be valid at once, number them with `look`.
    """
    running = RunningEstimate("pool", measure, level, size, look)
    running.add(sample)
    return running.estimate()


def _check_name(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(f"no {what} {given!r}{did_you_mean(given, known)}; there are {', '.join(known)}")


def risk_of_look(alpha: float, look: int) -> float:
    """The risk that look number j = 1, 2, … may take, so that all of them together take `alpha`."""
    if look < 1:
        raise ValueError(f"looks are numbered from 1; got {look}")
    return alpha / (look * (look + 1.0))


# Measures are made of sums of scores. The risk of predictions sums over all rows; a pool, as it would be
# handed over, is wrong only where there is no answer. Precision of predictions is an average over the rows
# predicted 1, which are known. Recall is a ratio of two unknown sums, found and missed: it takes two
# sequences, which share the risk. Where predictions are known of answered rows only, precision is such a
# ratio, too.


class _RowGroup(NamedTuple):
    """Some of the rows, with the score that is summed over them, and a guess of it."""

    taken: Flags
    score: Array
    guess: Array | None

    def columns(self, sample: LabelSample) -> tuple[Array, Flags, Array, Array | None]:
        guess = None if self.guess is None else self.guess[self.taken]
        return sample.probability[self.taken], sample.asked[self.taken], self.score[self.taken], guess


def _parts(measure: str, sample: LabelSample) -> list[_RowGroup]:
    """The sums of a measure: one of losses; or one of labels predicted 1, and one of those predicted 0."""
    if measure in ("error", "loss"):
        return [_RowGroup(np.ones(len(sample), bool), sample.loss, sample.guess)]
    if sample.label is None:
        raise ValueError(
            f"{measure} needs labels of two classes: make the sample with `from_labels`, not `from_losses`"
        )
    predicted = np.zeros(len(sample), bool) if sample.predicted is None else sample.predicted
    if not sample.everywhere:
        amiss = ~predicted * sample.label if measure == "recall" else predicted * (1.0 - sample.label)
        return [
            _RowGroup(np.ones(len(sample), bool), score, None) for score in (predicted * sample.label, amiss)
        ]
    return [_RowGroup(taken, sample.label, sample.chance) for taken in (predicted, ~predicted)]


def _unknowns(measure: str, sample: LabelSample) -> int:
    """How many sums must be bounded at once."""
    if measure == "precision":
        return 1 if sample.everywhere else 2
    return 2 if measure == "recall" and sample.predicted is not None else 1


def _risk(measure: str, sums: list[SumBounds], unknown: int) -> EstimatePath:
    """An average of all rows, or of those predicted 1; or a ratio of unknown sums."""
    if measure == "recall" or unknown == 2:
        found, amiss = sums
        return _ratio(found, amiss)
    return _average(sums[0], sums[0].rows)


def _pool(measure: str, sums: list[SumBounds], unseen: Array) -> EstimatePath:
    """The pool as it would be handed over, with rows that were not reached yet at their worst."""
    if measure in ("error", "loss"):
        (left,) = sums
        size = left.rows + unseen
        return EstimatePath(
            _share(left.value, left.rows, np.nan),
            _share(left.low, size, 0.0),
            _share(left.high + unseen, size, 1.0),
        )
    predicted, others = sums
    answered = predicted.known + others.known
    found = predicted._replace(
        value=answered + predicted.value, low=answered + predicted.low, high=answered + predicted.high
    )
    if measure == "precision":
        return _average(found, answered + predicted.rows - predicted.asked + predicted.skipped)
    return _ratio(found, others._replace(high=others.high + unseen))


def _average(total: SumBounds, rows: Array) -> EstimatePath:
    value, low, high = total[:3]
    return EstimatePath(_share(value, rows, np.nan), _share(low, rows, 0.0), _share(high, rows, 1.0))


def _ratio(found: SumBounds, amiss: SumBounds) -> EstimatePath:
    """It grows with what was found, and falls with what was missed or wrongly taken."""
    return EstimatePath(
        _share(found.value, found.value + amiss.value, np.nan),
        _share(found.low, found.low + amiss.high, 0.0),
        _share(found.high, found.high + amiss.low, 1.0),
    )


def _share(part: Array, whole: Array, empty: float) -> Array:
    """The ratio, or `empty` where there is nothing to divide by."""
    some = np.asarray(whole) > 0.0
    return np.where(some, part / np.where(some, whole, 1.0), empty)
