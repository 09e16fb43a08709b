"""`Draws`: rows in the order of their coins, with what was known before the coin fell and what was answered.

>>> draws = of_labels([1.0, 0.1, 0.5], asked=[True, False, True], label=[1, None, None], predicted=[1, 0, 1])
>>> len(draws), draws.skipped
(3, 1)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.active.confidence import Flags
from steelyard.active.wealth import Array


@dataclass(frozen=True)
class Draws:
    """Made by `of_losses` or `of_labels`, which look at what they are given."""

    probability: Array
    asked: Flags
    loss: Array
    """Divided by the largest possible one; NaN where it is not known."""
    guess: Array | None
    largest: float = 1.0
    label: Array | None = None
    """1 or 0; NaN where it is not known."""
    predicted: Flags | None = None
    """Where 1 was predicted; None means nowhere."""
    chance: Array | None = None
    everywhere: bool = True
    """Whether predictions are known of all rows, or of those only that were answered."""

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def skipped(self) -> int:
        """Questions without an answer."""
        return int(np.isnan(self.loss[self.asked]).sum())


def of_losses(
    probability: ArrayLike,
    asked: ArrayLike,
    loss: ArrayLike,
    guess: ArrayLike | None = None,
    largest: float = 1.0,
) -> Draws:
    """Rows with the loss of their prediction, from 0 to `largest`; 0 or 1 for an error.

    `loss` is looked at where a row was asked; None or NaN there means that the question was skipped.
    `guess` is the loss that the model itself expects of its prediction, for every row.
    """
    if not 0.0 < largest < np.inf:
        raise ValueError(f"the largest loss must be a positive finite number, not {largest}")
    chances, coins = _coins(probability, asked)
    losses = _scores("loss", loss, coins, largest)
    return Draws(chances, coins, losses, _guesses("guess", guess, len(coins), largest), largest)


def of_labels(
    probability: ArrayLike,
    asked: ArrayLike,
    label: ArrayLike,
    predicted: ArrayLike | None = None,
    chance: ArrayLike | None = None,
) -> Draws:
    """Rows of two classes: the label, 1 or 0, and whether 1 was predicted (nowhere, if nothing is said).

    `label` is looked at where a row was asked; None or NaN there means that the question was skipped.
    `chance` is the probability of a 1 according to the model, for every row.
    Of rows that are gone, `predicted` may be NaN, but not of those that were answered; then there are no
    chances, and precision and recall are less certain.
    """
    chances, coins = _coins(probability, asked)
    labels = _scores("label", label, coins, 1.0)
    fraction = np.flatnonzero((labels != 0.0) & (labels != 1.0) & ~np.isnan(labels))
    if len(fraction):
        raise ValueError(f"row {fraction[0]} has the label {labels[fraction[0]]}: labels must be 1 or 0")
    own = _guesses("chance", chance, len(coins), 1.0)
    if predicted is None:
        return Draws(chances, coins, labels, own, 1.0, labels, None, own)
    gone = np.isnan(np.asarray(predicted, np.float64))
    if gone.any():
        _check_gone(gone, labels, own)
    positive = _flags("predicted", np.where(gone, 0.0, predicted), len(coins))
    guess = None if own is None else np.where(positive, 1.0 - own, own)
    wrong = np.where(positive, 1.0 - labels, labels)
    return Draws(chances, coins, wrong, guess, 1.0, labels, positive, own, everywhere=not gone.any())


def _check_gone(gone: Flags, labels: Array, chance: Array | None) -> None:
    """Predictions may be missing, but not where they are needed."""
    if chance is not None:
        raise ValueError("chances are of all rows, and so must predictions be that come with them")
    bad = np.flatnonzero(gone[: len(labels)] & ~np.isnan(labels[: len(gone)]))
    if len(bad):
        raise ValueError(f"row {bad[0]} was answered, but there is no prediction of it")


def _coins(probability: ArrayLike, asked: ArrayLike) -> tuple[Array, Flags]:
    chances = np.asarray(probability, np.float64)
    if chances.ndim != 1:
        raise ValueError(f"probabilities must be a column, one for each row; got {chances.ndim} dimensions")
    bad = np.flatnonzero(~((chances > 0.0) & (chances <= 1.0)))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} was asked with probability {chances[bad[0]]}: it must be above 0 and at most 1; "
            "give the probability a floor when asking, or nothing can be said about such rows"
        )
    coins = _flags("asked", asked, len(chances))
    wrong = np.flatnonzero(~coins & (chances == 1.0))
    if len(wrong):
        raise ValueError(
            f"row {wrong[0]} was not asked, though its probability is 1: one of the two is wrong"
        )
    return chances, coins


def _flags(what: str, values: ArrayLike, rows: int) -> Flags:
    flags = np.asarray(values)
    if flags.shape != (rows,):
        raise ValueError(f"there are {rows} rows, but {what!r} has the shape {flags.shape}")
    if not ((flags == 0) | (flags == 1)).all():
        raise ValueError(f"{what!r} must be yes or no (True, False, 1, 0) in every row")
    return flags.astype(bool)


def _scores(what: str, values: ArrayLike, asked: Flags, largest: float) -> Array:
    """From 0 to 1 where answered, NaN elsewhere: what was not asked for is not looked at."""
    column = np.asarray(values, np.float64)
    if column.shape != asked.shape:
        raise ValueError(f"there are {len(asked)} rows, but {what!r} has the shape {column.shape}")
    scores = np.where(asked, column, np.nan)
    bad = np.flatnonzero((scores < 0.0) | (scores > largest))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} has the {what} {scores[bad[0]]}: it must be from 0 to {largest:g}"
            + (", or say what the largest loss is" if what == "loss" else "")
        )
    return scores / largest


def _guesses(what: str, values: ArrayLike | None, rows: int, largest: float) -> Array | None:
    if values is None:
        return None
    column = np.asarray(values, np.float64)
    if column.shape != (rows,):
        raise ValueError(f"there are {rows} rows, but {what!r} has the shape {column.shape}")
    bad = np.flatnonzero(~((column >= 0.0) & (column <= largest)))
    if len(bad):
        raise ValueError(f"row {bad[0]} has the {what} {column[bad[0]]}: it must be from 0 to {largest:g}")
    return column / largest
