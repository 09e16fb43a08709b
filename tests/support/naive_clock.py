"""The slow twin of `learn.clock` and `learn.levels`: a clock in fractions, and what is rounded to levels."""

import math
from fractions import Fraction

SLIVER = Fraction(1e-9)  # a clock so near to a whole number has reached it
SMALLEST, LARGEST = 1.2e-38, 1e38


class NaiveClock:
    """The weight learned so far: a whole number and a fraction, exactly."""

    def __init__(self) -> None:
        self.epoch, self.fraction = 0, Fraction(0)

    def __float__(self) -> float:
        return float(self.epoch + self.fraction)

    @property
    def between(self) -> bool:
        """Whether an epoch is open."""
        return self.fraction > 0

    def cut(self, left: Fraction) -> Fraction:
        """How much of a weight belongs to the epoch that it is."""
        until = 1 - self.fraction
        return left if left <= until + SLIVER else until

    def advance(self, weight: Fraction) -> bool:
        """Move; returns whether some whole number was reached."""
        total = self.fraction + weight
        whole = math.floor(total + SLIVER)
        self.epoch += whole
        self.fraction = total - whole if whole == 0 or total - whole > SLIVER else Fraction(0)
        return whole > 0

    @property
    def level(self) -> tuple[int, int]:
        """Where the level of time begins that this epoch belongs to, and how many epochs it has."""
        width = 1
        while 128 * width <= self.epoch:
            width *= 2
        return self.epoch // width * width, width

    @property
    def time(self) -> float:
        """The middle of the level of time."""
        first, width = self.level
        return first + 0.5 * width


def octave(epoch: int) -> int:
    """Between which powers of two it is."""
    return epoch.bit_length()


def level_of(total: float) -> float:
    """The middle of a quarter of an octave."""
    bounded = min(max(total, SMALLEST), LARGEST)
    start = 2.0 ** math.floor(math.log2(bounded))
    start = start / 2.0 if start > bounded else start
    start = start * 2.0 if bounded >= 2.0 * start else start
    quarter = math.floor((bounded - start) / start * 4.0)
    return start * (1.0 + (quarter + 0.5) / 4.0)


def off_edges(steep: float) -> float:
    """What sums are multiplied by, so that neither natural values nor the labels' unit decide on levels."""
    square = steep * steep
    while not 0.5 <= square < 1.0:
        square *= 2.0 if square < 0.5 else 0.5
    return 1.2345678901234567 / square
