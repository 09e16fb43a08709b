"""How good is it? Estimates from the labels that were paid for, each named for what it estimates.

- `progressive`: the models so far. Every row scored by the prediction made *before* it was learned,
  averaged over all rows seen, asked or not. Models and rows may change over time: it is the average of what
  they were.
- `current`: the model held now. Every row scored by the model as it is now, which must not have learned
  from that row: a lane of `crossfit`, or rows of an audit that are never learned from.
- `pool`: this finite pool, as it would be handed over now: answers where there are answers, predictions made
  before the row's coin fell elsewhere. Nothing is assumed about the rows; only the coins are random.

All take `Draws` and a measure: error, loss, precision or recall. Intervals hold at every moment at once, so
stopping when one pleases is legitimate. Questions that were skipped are counted at their worst on both sides.

>>> import numpy as np
>>> from steelyard.active.label_sample import of_losses
>>> wrong = np.arange(2000) % 20 == 0
>>> print(progressive(of_losses(np.ones(2000), np.ones(2000), wrong)))
progressive error: 0.050 (0.033 to 0.071 at every moment, with 95 % confidence; 2,000 of 2,000 rows asked)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard._messages import counted, did_you_mean
from steelyard.active import measures
from steelyard.active.confidence import Sequence, Standing
from steelyard.active.label_sample import Draws
from steelyard.active.laws import COINS, RISK
from steelyard.active.measures import Interval
from steelyard.active.wealth import Array

ESTIMANDS = ("progressive", "current", "pool")
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A figure with an interval that holds at every moment; NaN where there is nothing to go by."""

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
    """Of those asked, the ones without an answer: skipped, or open still."""

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def answered(self) -> int:
        """The labels it is made of."""
        return self.asked - self.skipped

    def __str__(self) -> str:
        value = "unknown" if np.isnan(self.value) else f"{self.value:.3f}"
        skipped = f"; {self.skipped:,} not answered, taken at their worst" if self.skipped else ""
        return (
            f"{self.of} {self.measure}: {value} ({self.low:.3f} to {self.high:.3f} at every moment, "
            f"with {100.0 * self.level:g} % confidence; "
            f"{self.asked:,} of {counted(self.rows, 'row')} asked{skipped})"
        )


class Running:
    """An estimate that grows with the stream, a row or many at a time: `progressive`, or `pool`."""

    def __init__(
        self, of: str, measure: str = "error", level: float = LEVEL, size: int | None = None, look: int = 1
    ) -> None:
        _one_of("estimate of", of, ESTIMANDS)
        _one_of("measure", measure, measures.MEASURES)
        if not 0.0 < level < 1.0:
            raise ValueError(f"the level of confidence must lie between 0 and 1, as 0.95 does; got {level}")
        self.of, self.measure, self.level, self.size = of, measure, level, size
        self._alpha = spent(1.0 - level, look)
        self._sequences: list[Sequence] = []
        self._unknowns, self._largest = 1, 1.0
        self.rows = self.asked = self.skipped = 0

    def add(self, draws: Draws) -> None:
        """The next rows of the stream."""
        for sequence, part in zip(*self._prepared(draws), strict=True):
            take = part.taken
            guess = None if part.guess is None else part.guess[take]
            sequence.add(draws.probability[take], draws.asked[take], part.score[take], guess)

    def path(self, draws: Draws) -> Interval:
        """`add`, and the estimate with its bounds before the rows and after each of them."""
        rows = self.rows
        standings = []
        for sequence, part in zip(*self._prepared(draws), strict=True):
            take = part.taken
            guess = None if part.guess is None else part.guess[take]
            columns = draws.probability[take], draws.asked[take], part.score[take], guess
            moments = np.concatenate([[0], np.cumsum(take)])
            standings.append(sequence.path(*columns, self._alpha / self._unknowns).at(moments))
        return self._interval(standings, rows + np.arange(len(draws) + 1.0))

    def estimate(self) -> Estimate:
        """As things stand."""
        standings = [each.standing(self._alpha / self._unknowns) for each in self._sequences]
        interval = self._interval(standings, np.array(float(self.rows))) if standings else _NOTHING
        value, low, high = (float(each) for each in interval)
        return Estimate(
            self.of, self.measure, value, low, high, self.level, self.rows, self.asked, self.skipped
        )

    def _prepared(self, draws: Draws) -> tuple[list[Sequence], list[measures.Part]]:
        parts = measures.parts(self.measure, draws)
        if not self._sequences:
            law = COINS if self.of == "pool" else RISK
            self._sequences = [Sequence(law, part.guess is not None) for part in parts]
            self._unknowns, self._largest = measures.unknowns(self.measure, draws), draws.largest
        same = (self._unknowns, self._largest) == (measures.unknowns(self.measure, draws), draws.largest)
        if not same or self._sequences[0].given != (parts[0].guess is not None):
            raise ValueError(
                "guesses and predictions must come with all rows or with none, "
                "and the largest loss must stay the same"
            )
        if self.size is not None and self.rows + len(draws) > self.size:
            raise ValueError(
                f"the pool has {counted(self.size, 'row')}, and {self.rows + len(draws):,} have come: "
                "each comes once; for a second pass make another pool, with rows answered before at P = 1"
            )
        self.rows += len(draws)
        self.asked += int(draws.asked.sum())
        self.skipped += draws.skipped
        return self._sequences, parts

    def _interval(self, standings: list[Standing], rows: Array) -> Interval:
        if self.of == "pool":
            unseen = np.zeros_like(rows) if self.size is None else self.size - rows
            shares = measures.pool(self.measure, standings, unseen)
        else:
            shares = measures.risk(self.measure, standings, self._unknowns)
        return Interval(*(self._largest * each for each in shares))


_NOTHING = Interval(np.array(np.nan), np.array(0.0), np.array(1.0))


def progressive(draws: Draws, measure: str = "error", level: float = LEVEL) -> Estimate:
    """Of the models so far on average; each prediction was made before its row was learned."""
    running = Running("progressive", measure, level)
    running.add(draws)
    return running.estimate()


def current(
    draws: Draws, learned: ArrayLike, measure: str = "error", level: float = LEVEL, look: int = 1
) -> Estimate:
    """Of the model held now: all rows are scored by it, and it must not have `learned` any that was asked.

    A model that has changed since the last look is another model. For the intervals of all looks to hold at
    once, number them from 1: look j may be wrong with probability (1 − level)/(j(j + 1)), and the sum of
    these is 1 − level. Looking when the number of labels has grown by a tenth costs little.
    """
    trained = np.asarray(learned)
    if trained.shape != draws.asked.shape:
        raise ValueError(
            f"there are {counted(len(draws), 'row')}, but 'learned' has the shape {trained.shape}"
        )
    bad = np.flatnonzero(trained.astype(bool) & draws.asked)
    if len(bad):
        raise ValueError(
            f"row {bad[0]} was learned by the very model that scored it: such a score is far too good. "
            "Score it with a lane that did not learn it (`crossfit`), or keep rows for an audit"
        )
    running = Running("current", measure, level, look=look)
    running.add(draws)
    return running.estimate()


def pool(
    draws: Draws, measure: str = "error", level: float = LEVEL, size: int | None = None, look: int = 1
) -> Estimate:
    """Of this pool of `size` rows (those given, if nothing is said); rows not reached yet are at their worst.

    A second pass over what is left is a pool of its own: rows answered before enter it with probability 1.
    To have both passes hold at once, number them with `look`.
    """
    running = Running("pool", measure, level, size, look)
    running.add(draws)
    return running.estimate()


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(f"no {what} {given!r}{did_you_mean(given, known)}; there are {', '.join(known)}")


def spent(alpha: float, look: int) -> float:
    """The risk that look number j = 1, 2, … may take, so that all of them together take `alpha`."""
    if look < 1:
        raise ValueError(f"looks are numbered from 1; got {look}")
    return alpha / (look * (look + 1.0))
