"""`AddedColumns`: the columns that predictions become in a table. `Scores`: what they say of classes."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import click
import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard.engine import probabilities
from steelyard.engine.loaded_model import LoadedModel
from steelyard.io.errors import InputError
from steelyard.io.table_writers import Column

Predictions = NDArray[np.float64]
_DIGITS = 9


class Scores:
    """The predictions of some rows, and what follows from them, computed once."""

    def __init__(self, model: LoadedModel, raw: Predictions) -> None:
        self._model, self.raw = model, raw

    @cached_property
    def chances(self) -> Predictions:
        """The probability of each class."""
        model = self._model
        return probabilities.class_probabilities(model.loss, self.raw, model.content.calibration)

    def labels(self) -> Column:
        return self._named(probabilities.decide(self._model.loss, self.raw))

    def label_at(self, rank: int) -> Column:
        """The best class of each row, for rank 0; the next best for 1."""
        return self._named(self._ranked[:, rank])

    def chance_at(self, rank: int) -> Predictions:
        return np.take_along_axis(self.chances, self._ranked[:, rank : rank + 1], axis=1)[:, 0]

    @cached_property
    def _ranked(self) -> NDArray[np.intp]:
        """Classes by probability, ties by prediction. The predicted class comes first: sigmoids fitted to
        each class may give another one a higher probability.
        """
        keys = -self.chances
        keys[np.arange(len(keys)), probabilities.decide(self._model.loss, self.raw)] = -np.inf
        return np.lexsort((-self.raw if self.raw.ndim == 2 else keys, keys), axis=1)

    def _named(self, codes: NDArray[np.intp]) -> Column:
        names = self._model.class_names or []
        return [names[code] for code in codes.tolist()]


class AddedColumns:
    """`kind` is what the user wants to see, None for the usual columns; `top` asks for so many classes."""

    def __init__(self, model: LoadedModel, kind: str | None, top: int | None = None) -> None:
        self._model = model
        classes = model.class_names or []
        if kind is not None or top is not None:
            check_kind(model, kind or "probability")
        if not classes:
            kind = "raw"
        elif kind is None:
            kind = "usual" if model.has_probabilities else "label"
        makers: dict[str, Callable[[Scores], Column]] = {}
        if top is None and kind in ("usual", "label"):
            makers["prediction"] = Scores.labels
        if kind == "usual" and (top is not None or len(classes) > 2):
            for rank in range(min(top or 1, len(classes))):
                more = f"_{rank + 1}" if rank else ""
                makers[f"prediction{more}"] = partial(Scores.label_at, rank=rank)
                makers[f"probability{more}"] = partial(_chance_at, rank=rank)
        elif kind in ("usual", "probability"):
            for k in [1] if len(classes) == 2 else range(len(classes)):
                makers[f"probability_{classes[k]}"] = partial(_chance_of, code=k)
        if kind == "raw" and len(classes) <= 2:
            makers["raw" if classes else "prediction"] = _raw
        elif kind == "raw":
            for k, name in enumerate(classes):
                makers[f"raw_{name}"] = partial(_raw_of, code=k)
        self._makers = makers

    @property
    def numeric(self) -> list[bool]:
        labels = (Scores.labels, Scores.label_at)
        return [getattr(maker, "func", maker) not in labels for maker in self._makers.values()]

    def names_beside(self, others: Sequence[str]) -> list[str]:
        """The names, with a number behind those that the table has already."""
        taken, names = set(others), []
        for name in self._makers:
            free = name
            while free in taken:
                last = free.removeprefix(name).removeprefix("_")
                free = f"{name}_{int(last or 1) + 1}"
            taken.add(free)
            names.append(free)
        renamed = [new for new, name in zip(names, self._makers, strict=True) if new != name]
        if renamed:
            click.echo(
                f"note: the table already has columns of that name; the new ones are {', '.join(renamed)}",
                err=True,
            )
        return names

    def values(self, predictions: Predictions, read: NDArray[np.bool_]) -> list[Column]:
        """A value for each record; none where it could not be read."""
        columns, scores = [], Scores(self._model, predictions)
        for maker in self._makers.values():
            column: Column = [None] * len(read)
            for place, value in zip(np.flatnonzero(read).tolist(), maker(scores), strict=True):
                column[place] = value
            columns.append(column)
        return columns


def check_kind(model: LoadedModel, kind: str) -> None:
    """An error if the model has no such predictions."""
    name = losses.name_of(model.loss) or type(model.loss).__name__
    if kind == "probability" and not model.has_probabilities:
        raise InputError(
            f"{name} loss has no probabilities, and the model was not calibrated: train it again without "
            "--no-calibrate"
            if model.class_names
            else f"{name} loss has no probabilities: its prediction is a number, --as raw"
        )
    if kind == "label" and model.class_names is None:
        raise InputError(f"{name} loss has no classes to name: its prediction is a number, --as raw")


def _raw(scores: Scores) -> Column:
    return _rounded(scores.raw)


def _raw_of(scores: Scores, code: int) -> Column:
    return _rounded(scores.raw[:, code])


def _chance_of(scores: Scores, code: int) -> Column:
    return _rounded(scores.chances[:, code])


def _chance_at(scores: Scores, rank: int) -> Column:
    return _rounded(scores.chance_at(rank))


def _rounded(values: Predictions) -> Column:
    return [float(f"{value:.{_DIGITS}g}") for value in values.tolist()]
