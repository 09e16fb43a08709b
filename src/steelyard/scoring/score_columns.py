"""`ScoreColumn`: a figure of each row as a named column. The names of all of them are given here.

| what | beside a table | of a filter's model |
|---|---|---|
| the predicted class | `prediction` | `label` |
| its probability, of several classes | `probability`; `probability_2` of the second best | `p` |
| the probability of the second of two classes, or of any | `probability_NAME` | `p`, `p[NAME]` |
| the prediction w·x | `prediction` of numbers, `raw`, `raw_NAME` | `raw`, `raw[NAME]` |
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard._parameters import Parameter
from steelyard.io.errors import InputError
from steelyard.scoring.scores import Meaning, Scores


class ScoreColumn(NamedTuple):
    """What it is called, whether it is a number and not a name, and how scores give it."""

    name: str
    numeric: bool
    values: Callable[[Scores], NDArray[Any]]


def table_columns(meaning: Meaning, kind: str | None, top: int | None = None) -> list[ScoreColumn]:
    """The columns that predictions become beside a table.

    `kind` is "raw", "probability" or "label"; None: the label and its probability, where there are some. `top`
    asks for so many classes, each with its probability.
    """
    classes = list(meaning.classes or ())
    if kind is not None or top is not None:
        check_kind(meaning, kind or "probability")
    if top is not None:
        return _best_classes(min(top, len(classes)))
    if not classes:
        return [ScoreColumn("prediction", True, _raw)]
    if kind == "raw":
        return [ScoreColumn("raw", True, _raw)] if len(classes) == 2 else _raw_of_each("raw_{}", classes)
    found = [] if kind == "probability" else [ScoreColumn("prediction", False, _label)]
    if kind == "label" or not meaning.has_probabilities:
        return found
    if kind is None and len(classes) > 2:
        return _best_classes(1)
    of_each = _probability_of_each("probability_{}", classes)
    return found + (of_each[1:] if len(classes) == 2 else of_each)


def filter_scores(meaning: Meaning) -> list[ScoreColumn]:
    """All scores by which rows can be filtered."""
    classes = list(meaning.classes or ())
    found = []
    if meaning.has_probabilities:
        found.append(ScoreColumn("p", True, _probability))
    if classes:
        found.append(ScoreColumn("label", False, _label))
    found.append(ScoreColumn("raw", True, _largest))
    of_each = _probability_of_each if meaning.has_probabilities else _raw_of_each
    return found + of_each("p[{}]" if meaning.has_probabilities else "raw[{}]", classes)


def filter_columns(meaning: Meaning) -> list[str]:
    """Which of these scores a filter writes beside each row."""
    number = "p" if meaning.has_probabilities else "raw"
    return ["label", number] if len(meaning.classes or ()) > 2 else [number]


def check_kind(meaning: Meaning, kind: str) -> None:
    """An error if the model has no such predictions."""
    name = losses.name_of(meaning.loss) or type(meaning.loss).__name__
    raw = Parameter("as", "raw", in_python="predict")
    if kind == "probability" and not meaning.has_probabilities:
        if not meaning.classes:
            raise InputError(f"{name} loss has no probabilities: its prediction is a number, ", raw)
        raise InputError(
            f"{name} loss has no probabilities, and the model was not calibrated: train it again without ",
            Parameter("calibrate", False),
        )
    if kind == "label" and meaning.classes is None:
        raise InputError(f"{name} loss has no classes to name: its prediction is a number, ", raw)


def free_names(columns: Sequence[ScoreColumn], taken: Sequence[str]) -> list[str]:
    """The names of columns beside a table; those that it has already get a number behind them."""
    known, names = set(taken), []
    for column in columns:
        name, number = column.name, 1
        while name in known:
            number += 1
            name = f"{column.name}_{number}"
        known.add(name)
        names.append(name)
    return names


def _best_classes(most: int) -> list[ScoreColumn]:
    found = []
    for rank in range(most):
        number = f"_{rank + 1}" if rank else ""
        found.append(ScoreColumn(f"prediction{number}", False, partial(Scores.label_at, rank=rank)))
        found.append(ScoreColumn(f"probability{number}", True, partial(Scores.probability_at, rank=rank)))
    return found


def _probability_of_each(name: str, classes: Sequence[str]) -> list[ScoreColumn]:
    return [
        ScoreColumn(name.format(each), True, partial(Scores.probability_of, code=code))
        for code, each in enumerate(classes)
    ]


def _raw_of_each(name: str, classes: Sequence[str]) -> list[ScoreColumn]:
    return [
        ScoreColumn(name.format(each), True, partial(Scores.raw_of, code=code))
        for code, each in enumerate(classes)
    ]


def _label(scores: Scores) -> NDArray[Any]:
    return scores.labels


def _probability(scores: Scores) -> NDArray[np.float64]:
    return scores.probability


def _raw(scores: Scores) -> NDArray[np.float64]:
    return scores.raw


def _largest(scores: Scores) -> NDArray[np.float64]:
    return scores.raw if scores.raw.ndim == 1 else np.asarray(scores.raw.max(axis=1))
