"""`LabelSample`: rows in the order of their random draws, with what was known before and the answers.

>>> sample = from_labels([1.0, 0.1, 0.5], [True, False, True], label=[1, None, None], predicted=[1, 0, 1])
>>> len(sample), sample.skipped
(3, 1)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.active.confidence import Array, Flags


@dataclass(frozen=True)
class LabelSample:
    """Made by `from_losses` or `from_labels`, which check their arguments."""

    probability: Array
    asked: Flags
    loss: Array
    """Divided by the largest possible loss; NaN where it is not known."""
    guess: Array | None
    largest: float = 1.0
    label: Array | None = None
    """1 or 0; NaN where it is not known."""
    predicted: Flags | None = None
    """Where 1 was predicted; None means nowhere."""
    chance: Array | None = None
    everywhere: bool = True
    """Whether predictions are known of all rows, or only of those that were answered."""

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def skipped(self) -> int:
        """Questions without an answer."""
        return int(np.isnan(self.loss[self.asked]).sum())


def from_losses(
    probability: ArrayLike,
    asked: ArrayLike,
    loss: ArrayLike,
    guess: ArrayLike | None = None,
    largest: float = 1.0,
) -> LabelSample:
    """Rows with the loss of their prediction, from 0 to `largest`; 0 or 1 for an error.

    `loss` is read where a row was asked for; None or NaN there means that the question was skipped.
    `guess` is the loss that the model itself expects of its prediction, for every row.
    """
    if not 0.0 < largest < np.inf:
        raise ValueError(f"the largest loss must be a positive finite number, not {largest}")
    chances, flags = _check_draws(probability, asked)
    losses = _scores("loss", loss, flags, largest)
    return LabelSample(chances, flags, losses, _guesses("guess", guess, len(flags), largest), largest)


def from_labels(
    probability: ArrayLike,
    asked: ArrayLike,
    label: ArrayLike,
    predicted: ArrayLike | None = None,
    chance: ArrayLike | None = None,
) -> LabelSample:
    """Rows of two classes: the label, 1 or 0, and whether 1 was predicted (by default nowhere).

    `label` is read where a row was asked for; None or NaN there means that the question was skipped. `chance`
    is the probability of a 1 according to the model, for every row. `predicted` may be NaN for rows that are
    no longer available, except answered ones; then `chance` cannot be given, and the intervals of precision
    and recall are wider.
    """
    chances, flags = _check_draws(probability, asked)
    labels = _scores("label", label, flags, 1.0)
    fraction = np.flatnonzero((labels != 0.0) & (labels != 1.0) & ~np.isnan(labels))
    if len(fraction):
        raise ValueError(f"row {fraction[0]} has the label {labels[fraction[0]]}: labels must be 1 or 0")
    own = _guesses("chance", chance, len(flags), 1.0)
    if predicted is None:
        return LabelSample(chances, flags, labels, own, 1.0, labels, None, own)
    gone = np.isnan(np.asarray(predicted, np.float64))
    if gone.any():
        _check_gone(gone, labels, own)
    positive = _flags("predicted", np.where(gone, 0.0, predicted), len(flags))
    guess = None if own is None else np.where(positive, 1.0 - own, own)
    wrong = np.where(positive, 1.0 - labels, labels)
    return LabelSample(chances, flags, wrong, guess, 1.0, labels, positive, own, everywhere=not gone.any())


def _check_gone(gone: Flags, labels: Array, chance: Array | None) -> None:
    """Predictions may be missing, but not where they are needed."""
    if chance is not None:
        raise ValueError("a chance needs a prediction of every row: some predictions are NaN")
    bad = np.flatnonzero(gone[: len(labels)] & ~np.isnan(labels[: len(gone)]))
    if len(bad):
        raise ValueError(f"row {bad[0]} was answered, but it has no prediction")


def _check_draws(probability: ArrayLike, asked: ArrayLike) -> tuple[Array, Flags]:
    chances = np.asarray(probability, np.float64)
    if chances.ndim != 1:
        raise ValueError(f"probabilities must be a column, one for each row; got {chances.ndim} dimensions")
    bad = np.flatnonzero(~((chances > 0.0) & (chances <= 1.0)))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} was asked with probability {chances[bad[0]]}: it must be above 0 and at most 1; "
            "give the probability a floor when asking, or leave such rows out"
        )
    flags = _flags("asked", asked, len(chances))
    wrong = np.flatnonzero(~flags & (chances == 1.0))
    if len(wrong):
        raise ValueError(
            f"row {wrong[0]} was not asked, though its probability is 1: one of the two is wrong"
        )
    return chances, flags


def _column(what: str, values: ArrayLike, rows: int) -> Array:
    column = np.asarray(values, np.float64)
    if column.shape != (rows,):
        raise ValueError(f"there are {rows} rows, but {what!r} has the shape {column.shape}")
    return column


def _flags(what: str, values: ArrayLike, rows: int) -> Flags:
    flags = _column(what, values, rows)
    if not ((flags == 0.0) | (flags == 1.0)).all():
        raise ValueError(f"{what!r} must be yes or no (True, False, 1, 0) in every row")
    return flags.astype(bool)


def _scores(what: str, values: ArrayLike, asked: Flags, largest: float) -> Array:
    """The column scaled to 0–1 where answered, NaN elsewhere: rows not asked for are not read."""
    scores = np.where(asked, _column(what, values, len(asked)), np.nan)
    hint = ", or give the largest loss" if what == "loss" else ""
    return _scaled(what, scores, (scores < 0.0) | (scores > largest), largest, hint)


def _guesses(what: str, values: ArrayLike | None, rows: int, largest: float) -> Array | None:
    if values is None:
        return None
    guesses = _column(what, values, rows)
    return _scaled(what, guesses, ~((guesses >= 0.0) & (guesses <= largest)), largest)


def _scaled(what: str, column: Array, outside: Flags, largest: float, hint: str = "") -> Array:
    bad = np.flatnonzero(outside)
    if len(bad):
        raise ValueError(
            f"row {bad[0]} has the {what} {column[bad[0]]}: it must be from 0 to {largest:g}{hint}"
        )
    return column / largest
