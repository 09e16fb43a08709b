"""`predict -o table.csv`: the table that was given, with the predictions as further columns."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from steelyard.cli import scoring
from steelyard.engine import probabilities
from steelyard.engine.loaded_model import LoadedModel
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.io.table_records import Records, Row, records_of
from steelyard.io.table_writers import Column, open_writer

Predictions = NDArray[np.float64]
_DIGITS = 9


class AddedColumns:
    """The columns that predictions become; `kind` is what the user wants to see, None for the usual ones."""

    def __init__(self, model: LoadedModel, kind: str | None) -> None:
        self._loss, self._calibration = model.loss, model.content.calibration
        self._classes = model.class_names or []
        if kind is not None:
            scoring.PredictionText(model, kind)  # refuses what the model cannot say
        if not self._classes:
            kind = "raw"
        elif kind is None:
            kind = "usual" if model.has_probabilities else "label"
        self._makers: dict[str, Callable[[Predictions], Column]] = {}
        if kind in ("usual", "label"):
            self._makers["prediction"] = self._labels
        if kind == "usual" and len(self._classes) > 2:
            self._makers["probability"] = lambda found: _rounded(self._chances(found).max(axis=1))
        elif kind in ("usual", "probability"):
            shown = range(1, 2) if len(self._classes) == 2 else range(len(self._classes))
            for k in shown:
                self._makers[f"probability_{self._classes[k]}"] = lambda found, k=k: _rounded(  # type: ignore[misc]
                    self._chances(found)[:, k]
                )
        if kind == "raw" and len(self._classes) <= 2:
            self._makers["raw" if self._classes else "prediction"] = _rounded
        elif kind == "raw":
            for k, name in enumerate(self._classes):
                self._makers[f"raw_{name}"] = lambda found, k=k: _rounded(found[:, k])  # type: ignore[misc]

    @property
    def numeric(self) -> list[bool]:
        return [maker != self._labels for maker in self._makers.values()]

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
                f"note: the table has such columns already; the new ones are {', '.join(renamed)}", err=True
            )
        return names

    def values(self, predictions: Predictions, read: NDArray[np.bool_]) -> list[Column]:
        """A value for each record; none where it could not be read."""
        columns = []
        for maker in self._makers.values():
            column: Column = [None] * len(read)
            for place, value in zip(np.flatnonzero(read).tolist(), maker(predictions), strict=True):
                column[place] = value
            columns.append(column)
        return columns

    def _labels(self, predictions: Predictions) -> Column:
        return [self._classes[code] for code in probabilities.decide(self._loss, predictions).tolist()]

    def _chances(self, predictions: Predictions) -> Predictions:
        return probabilities.class_probabilities(self._loss, predictions, self._calibration)


class _Tags(Records):
    """Of files without columns: the tags of the rows that could be read."""

    names = ("tag",)

    def __init__(self, spec: InputSpec, paths: Sequence[str]) -> None:
        super().__init__(spec, paths)
        self._tags: list[Row] = []

    def read(self, parsed: ParsedBlock) -> NDArray[np.bool_]:
        self._tags = [[tag.decode("utf-8", "replace")] for tag in scoring.tags(parsed)]
        return np.ones(len(self._tags), bool)

    def rows(self, block: Block) -> list[Row]:
        return self._tags


def write(
    output: Path, model: LoadedModel, kind: str | None, paths: list[str], given: dict[str, Any]
) -> Stream:
    """Predict the files and write them as one table; rows that cannot be read have empty predictions."""
    added = AddedColumns(model, kind)
    spec, stream = scoring.score(model, paths, given)
    records = records_of(spec, paths) or _Tags(spec, paths)
    with open_writer(output, records, added.names_beside(records.names), added.numeric) as writer:
        for parsed in stream:
            read = records.read(parsed)
            if len(read):
                writer.write(parsed.block, added.values(scoring.predictions_of(parsed), read))
    return stream


def _rounded(values: Predictions) -> Column:
    return [float(f"{value:.{_DIGITS}g}") for value in values.tolist()]
