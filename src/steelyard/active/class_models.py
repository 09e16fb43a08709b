"""Two classes have one model. If there are more, each has a model that tells it from the rest.

The models share the answers: each is an example of its own class and a counterexample of all others. So nothing is
asked for one class alone, and all models learn the same rows with the same weights.

The decision about a row is written down as one number. For two classes that is w·x. For several it is the
number of the class with the largest w·x, plus the model's own probability that it is another: 3.25 is class
3, with a doubt of a quarter.

>>> import numpy as np
>>> from steelyard import losses
>>> found = decisions(losses.by_name("modified_huber"), np.array([[-1.0, 0.5, -0.5]]))
>>> found, decided_class(found).tolist()
(array([1.25]), [1.0])
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.losses import Loss, class_labels
from steelyard.model import Model
from steelyard.scoring import probabilities

if TYPE_CHECKING:
    from steelyard.active.strategies._base import Strategy


def codes(loss: Loss, classes: int) -> tuple[float, ...]:
    """The labels of the classes: as the loss takes two of them, else 0, 1, 2, …"""
    return class_labels(loss) if classes == 2 else tuple(map(float, range(classes)))


def targets(loss: Loss, classes: int, labels: Floats) -> list[Floats]:
    """The labels that each model learns for rows with these labels."""
    if classes == 2:
        return [labels]
    low, high = class_labels(loss)
    return [np.where(labels == code, high, low) for code in codes(loss, classes)]


def predict(models: Sequence[Model], examples: Examples) -> NDArray[np.float64]:
    """w·x of each row; with several classes, a column for each."""
    columns = [Learner(model=model).predict(examples) for model in models]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def decisions(loss: Loss, predictions: NDArray[np.float64]) -> Floats:
    """The number that is written down for each row, from its predictions."""
    if predictions.ndim == 1:
        return predictions
    found: Floats = predictions.argmax(axis=1).astype(np.float64)
    if probabilities.has_probabilities(loss):
        found += 1.0 - probabilities.class_probabilities(loss, predictions).max(axis=1)
    return found


def score_and_decide(
    strategy: "Strategy", models: Sequence[Model], examples: Examples
) -> tuple[Floats, Floats]:
    """The score of each row, low where the strategy wants its label, and the decision about it."""
    if len(models) == 1:
        return strategy.score(models[0], examples)
    scores, predictions = strategy.score_classes(models, examples)
    return scores, decisions(models[0].settings.loss, predictions)


def decided_class(decided: Floats) -> Floats:
    """The code of the class, from the number of a row of several classes."""
    return np.floor(decided)


def doubt(loss: Loss, decided: Floats) -> Floats | None:
    """The probability that it is another class; None if the loss has no probabilities."""
    return decided - np.floor(decided) if probabilities.has_probabilities(loss) else None
