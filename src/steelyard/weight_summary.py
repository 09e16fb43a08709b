"""Summaries of importance weights; warnings if they cannot be counts, or if a handful of rows dominates.

>>> import numpy as np
>>> summarise(np.array([1.0, 1.0, 0.0, 2.0]))
WeightSummary(rows=4, nonzero=3, total=4, effective_sample_size=2.67, largest_share=0.5, largest_row=3)
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# With fewer rows nobody needs to be told which rows count, and a share of a tenth is normal.
FEW_ROWS = 100
LARGE_SHARE = 0.1
SMALL_FRACTION = 0.01  # the effective sample size as a part of the rows with a weight
SMALL_SAMPLE = 100.0  # samples at least this large are worth learning from, however many rows there are
# Between these, learning weights as copies costs little on all sets tried.
SMALL_WEIGHT, LARGE_WEIGHT = 1.0 / 8.0, 16.0


class WeightWarning(UserWarning):
    """A handful of rows carries most of the importance, or the weights cannot be counts of copies.

    Examples
    --------
    If all is as meant:

    >>> import warnings, steelyard
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", steelyard.WeightWarning)
    """


@dataclass(frozen=True, repr=False)
class WeightSummary:
    """A summary of weights. Rows are numbered from 0 in the order in which they came, over all chunks."""

    rows: int
    nonzero: int
    total: float
    squares: float
    """Σ(w/largest)²: relative, so that no weight's square overflows."""
    largest: float
    largest_row: int

    @property
    def effective_sample_size(self) -> float:
        """(Σw)²/Σw²: how many rows of equal weight would make estimates as steady as these."""
        return (self.total / self.largest) ** 2 / self.squares if self.largest > 0.0 else 0.0

    @property
    def largest_share(self) -> float:
        """The largest weight as a part of the total."""
        return self.largest / self.total if self.largest > 0.0 else 0.0

    @property
    def mean(self) -> float:
        """The mean weight of the rows that have one; 1 if none has."""
        return self.total / self.nonzero if self.nonzero else 1.0

    def scale_warning(self, remedy: str, factor: float = 1.0) -> str:
        """Return the warning for weights that cannot be counts; `remedy` says how to change what is done."""
        done = (
            f"so they were multiplied by {factor:.3g}, and a row counts {factor * self.mean:.3g} on average"
        )
        if factor == 1.0:
            done = "yet every row is learned as that many copies at once"
        return (
            f"the weights of {self.nonzero} rows have a mean of {self.mean:.6g}, which is unusual for counts "
            f"of copies, {done}. {remedy}"
        )

    @property
    def warning(self) -> str | None:
        """The warning if a handful of rows dominates, else None."""
        if self.nonzero < FEW_ROWS:
            return None
        size = self.effective_sample_size
        if self.largest_share <= LARGE_SHARE and size >= min(SMALL_SAMPLE, SMALL_FRACTION * self.nonzero):
            return None
        heaviest = f"row {self.largest_row} (weight {self.largest:.6g})"
        return (
            f"a handful of rows dominates: {heaviest} has {self.largest_share:.1%} of the total weight, and "
            f"the {self.nonzero} rows with a weight are worth {size:.3g} rows of equal weight. The invariant "
            "update cannot overshoot on such weights, but the model depends on few rows: check whether "
            f"the weight of row {self.largest_row} is right; if it is, cap the largest weights "
            "(numpy.minimum) or gather more rows of their kind. "
            "If this is intended: warnings.simplefilter('ignore', steelyard.WeightWarning)"
        )

    def followed_by(self, weights: NDArray[np.float64]) -> "WeightSummary":
        """Return the summary with further rows of the stream, bit for bit that of all rows at once."""
        from steelyard.learn import weight_sums  # not at the top: reading a model takes no kernels

        weights = np.array(weights, np.float64)
        weights.flags.writeable = False
        sums = np.array([self.total, self.squares, self.largest])
        row = weight_sums.add(weights, sums)
        total, squares, largest = sums.tolist()
        return WeightSummary(
            self.rows + len(weights),
            self.nonzero + int(np.count_nonzero(weights)),
            total,
            squares,
            largest,
            self.largest_row if row < 0 else self.rows + row,
        )

    def __repr__(self) -> str:
        return (
            f"WeightSummary(rows={self.rows}, nonzero={self.nonzero}, total={self.total:.6g}, "
            f"effective_sample_size={self.effective_sample_size:.3g}, "
            f"largest_share={self.largest_share:.3g}, largest_row={self.largest_row})"
        )


NOTHING = WeightSummary(rows=0, nonzero=0, total=0.0, squares=0.0, largest=0.0, largest_row=-1)


def summarise(weights: NDArray[np.float64]) -> WeightSummary:
    """Summarise finite weights, none negative."""
    return NOTHING.followed_by(weights)


def factor_for(weights: NDArray[np.float64]) -> float:
    """Return the factor for weights that make no sense as numbers of copies; 1 for all others.

    There must be many of them, and both median and mean must be absurd: a handful of huge weights says nothing
    about the others, and weights whose mean is 1 have been divided by it already. Let w be the less absurd of the
    two. From 16 on w becomes 16²/w, and 1 from 16² on; likewise below 1/8. So the factor never jumps.
    """
    nonzero = np.count_nonzero(weights)
    if nonzero < FEW_ROWS:
        return 1.0
    mean = float(weights.sum()) / nonzero
    if SMALL_WEIGHT <= mean <= LARGE_WEIGHT:  # most are, and finding a median takes time
        return 1.0
    middle = float(np.median(weights[weights > 0.0]))
    if max(middle, mean) < SMALL_WEIGHT:
        usual = max(middle, mean)
        return min(SMALL_WEIGHT**2 / usual, 1.0) / usual
    if min(middle, mean) > LARGE_WEIGHT:
        usual = min(middle, mean)
        return max(LARGE_WEIGHT**2 / usual, 1.0) / usual
    return 1.0


def warn(summary: WeightSummary, before: WeightSummary = NOTHING, stacklevel: int = 2) -> None:
    """Warn if a handful of rows dominates and did not already `before`."""
    if summary.warning and not before.warning:
        warnings.warn(summary.warning, WeightWarning, stacklevel=stacklevel + 1)
