"""Simulated streams with known truth, to check whether intervals cover it at all times.

Each row has a class, a prediction, the chance that the prediction is wrong, and the probability with which
its label is asked for. Chances and probabilities may depend on everything that came before, even
adversarially.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.active.estimates import EstimatePath
from steelyard.active.label_sample import LabelSample, from_labels

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]
FLOOR = 0.01


@dataclass
class Past:
    """What an adversary may know, by run."""

    row: int
    rows: int
    random: np.random.Generator
    weighted: Matrix
    """The sum of asked·wrong/P so far."""
    expected: Matrix
    """The sum of the chances of being wrong so far."""
    caught: Flags
    """Whether the last row was asked and wrong."""


Nature = Callable[[Past], tuple[Matrix, Matrix]]


def constant(wrong: float, probability: float) -> Nature:
    return lambda past: (np.full(len(past.caught), wrong), np.full(len(past.caught), probability))


def drift(past: Past) -> tuple[Matrix, Matrix]:
    """From guessing to good; asked with any probability."""
    wrong = 0.5 + (0.02 - 0.5) * past.row / past.rows
    return np.full(len(past.caught), wrong), past.random.uniform(FLOOR, 1.0, len(past.caught))


def jump(past: Past) -> tuple[Matrix, Matrix]:
    """Good until the middle, then no longer."""
    return np.full(len(past.caught), 0.02 if past.row < past.rows / 2 else 0.6), np.full(
        len(past.caught), 0.1
    )


def sly_asking(past: Past) -> tuple[Matrix, Matrix]:
    """Looks away while the estimate is too high, and looks hard while it is too low."""
    too_high = past.weighted > past.expected
    return np.full(len(past.caught), 0.2), np.where(too_high, FLOOR, 0.5)


def sly_nature(past: Past) -> tuple[Matrix, Matrix]:
    """Makes no errors after it was caught; is rarely asked where it matters."""
    return np.where(past.caught, 0.0, 0.3), np.where(past.caught, 1.0, 0.03)


def margins(past: Past) -> tuple[Matrix, Matrix]:
    """As in active learning: the more doubtful, the more often asked."""
    wrong = 0.5 * past.random.beta(0.4, 1.6, len(past.caught))
    return wrong, np.clip(4.0 * wrong**2, FLOOR, 1.0)


NATURES: dict[str, Nature] = {
    "P = 1": constant(0.1, 1.0),
    "P = 1 %": constant(0.1, FLOOR),
    "nearly always right, P = 5 %": constant(0.005, 0.05),
    "nearly always wrong, P = 5 %": constant(0.99, 0.05),
    "drift, any P": drift,
    "a jump, P = 10 %": jump,
    "P chosen by an adversary": sly_asking,
    "errors chosen by an adversary": sly_nature,
    "P by margin, floor 1 %": margins,
}


# What an estimate should cover: the error of predictions on such rows, and their record on these rows.
TRUTHS = {"progressive": ("risk", "record"), "pool": ("pool",)}


@dataclass(frozen=True)
class Streams:
    """Rows by run and time."""

    probability: Matrix
    asked: Flags
    label: Matrix
    predicted: Flags
    chance: Matrix
    """Of the label 1."""

    def draws(self, run: int, guessed: bool = False) -> LabelSample:
        """What the user gets to see."""
        seen = np.where(self.asked[run], self.label[run], np.nan)
        chance = self.chance[run] if guessed else None
        return from_labels(self.probability[run], self.asked[run], seen, self.predicted[run], chance)

    def truth(self, of: str, measure: str, run: int) -> Matrix:
        """What an estimate should cover after each row: risk, record or pool."""
        positive = self.chance[run] if of == "risk" else self.label[run]
        guessed = self.predicted[run]
        if of == "pool":  # as handed over: answers where there are answers
            guessed = np.where(self.asked[run], self.label[run] == 1.0, guessed)
        hit, overlooked = np.cumsum(positive * guessed), np.cumsum(positive * ~guessed)
        false = np.cumsum((1.0 - positive) * guessed)
        with np.errstate(invalid="ignore"):
            if measure == "error":
                ratio: Matrix = (overlooked + false) / np.arange(1.0, len(hit) + 1.0)
            else:
                ratio = hit / (hit + (false if measure == "precision" else overlooked))
        return ratio


def streams(nature: Nature, runs: int, rows: int, seed: int) -> Streams:
    """Several runs of a stream at once."""
    random = np.random.default_rng(seed)
    shape = (rows, runs)
    probability, chance, label = np.empty(shape), np.empty(shape), np.empty(shape)
    asked, predicted = np.empty(shape, bool), random.random(shape) < 0.3
    past = Past(0, rows, random, np.zeros(runs), np.zeros(runs), np.zeros(runs, bool))
    for t in range(rows):
        past.row = t
        doubt, probability[t] = nature(past)
        wrong = random.random(runs) < doubt
        asked[t] = random.random(runs) < probability[t]
        label[t] = predicted[t] != wrong
        chance[t] = np.where(predicted[t], 1.0 - doubt, doubt)
        past.caught = asked[t] & wrong
        past.weighted = past.weighted + past.caught / probability[t]
        past.expected = past.expected + doubt
    return Streams(probability.T, asked.T, label.T, predicted.T, chance.T)


def always_inside(interval: EstimatePath, truth: Matrix) -> bool:
    """Whether the truth is inside after every row; where there is no truth, any interval will do."""
    low, high = interval.low[1:], interval.high[1:]
    return bool(((low <= truth + 1e-9) & (truth <= high + 1e-9) | np.isnan(truth)).all())


def naive(draws: LabelSample, least: int = 30) -> EstimatePath:
    """The naive interval: the weighted average ± 1.96 standard errors, from some number of labels on."""
    scores = np.where(draws.asked, np.nan_to_num(draws.loss), 0.0) / draws.probability
    count = np.arange(1.0, len(scores) + 1.0)
    mean = np.cumsum(scores) / count
    spread = np.sqrt(np.maximum(np.cumsum(scores**2) / count - mean**2, 0.0) / count)
    early = np.cumsum(draws.asked) < least
    columns = (
        mean,
        np.where(early, 0.0, mean - 1.96 * spread),
        np.where(early, 1.0, mean + 1.96 * spread),
    )
    return EstimatePath(
        *(
            np.concatenate([[start], column])
            for start, column in zip((np.nan, 0.0, 1.0), columns, strict=True)
        )
    )
