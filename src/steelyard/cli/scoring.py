"""Models that score files: loading them, reading files as they do, and their predictions as text."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from steelyard.cli import options
from steelyard.cli.prediction_columns import Scores, check_kind
from steelyard.cli.wording import problem_texts
from steelyard.engine import file_labels, file_predictions, loaded_model
from steelyard.engine.loaded_model import LearnedModel, LoadedModel
from steelyard.io import columns as roles
from steelyard.io.absent_columns import JSON_LINES
from steelyard.io.blocks import ParsedBlock
from steelyard.io.columns import Column, Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, is_number
from steelyard.io.required_columns import spec_to_predict
from steelyard.io.stream import Stream
from steelyard.io.transcoding import check_encoding


def score(
    model: LoadedModel, paths: list[str], given: dict[str, Any], *, labelled: bool = False
) -> tuple[InputSpec, Stream]:
    """How these files are read, and their stream with predictions; labels matter where `labelled`."""
    spec = read_spec(model, paths, given.get("labels"), given.get("encoding"))
    if not labelled:
        spec = file_predictions.accept_any_labels(spec)
    elif spec.label_rule is not None:
        spec = replace(spec, label_rule=replace(spec.label_rule, closed=True))
    run = options.run_options(given)
    return spec, file_predictions.predict(
        model.engine, spec, paths, run, labelled=labelled, prompt=given.get("prompt", False)
    )


def load(path: Path, loss: str | None, text: str | None = None) -> LoadedModel:
    """A model that predicts; `--loss module:Class` gives the loss, if it was trained with a user's own."""
    return loaded_model.load_to_predict(path, options.own_loss(loss)).for_text(text)


def load_learned(path: Path, loss: str | None) -> LearnedModel:
    """A model with all that it has learned."""
    return loaded_model.load(path, options.own_loss(loss))


def read_spec(
    model: LoadedModel, paths: Sequence[str], labels: str | None = None, encoding: str | None = None
) -> InputSpec:
    """How these files are read for the model.

    `labels` says what the classes are called here, if not what they were called in training; `encoding`
    likewise.
    """
    own = model.spec()
    if encoding is not None:
        own = replace(own, encoding=check_encoding(encoding))
    spec = spec_to_predict(own, list(paths), str(model.path))
    if labels is None:
        return spec
    names = [name.strip() for name in labels.split(",")]
    known = model.class_names
    if known is None:
        raise InputError(f"--labels {labels}: the model predicts numbers, and knows no classes")
    if len(names) != len(known):
        raise InputError(f"--labels {labels}: the model has {len(known)} classes, {', '.join(known)}")
    return replace(spec, label_rule=file_labels.settle([], spec, [], model.loss, named=names).rule)


def spec_of_lines(loaded: LoadedModel) -> InputSpec:
    """How single lines are read: tables as JSON lines, whatever they were when the model learned them."""
    spec = file_predictions.accept_any_labels(loaded.spec())
    if spec.columns is not None:
        return replace(spec, format=JSON_LINES, dialect=None)
    if spec.converted:
        if spec.original is None:
            raise InputError(
                f"{loaded.path}: was trained on sparse rows without names, so it cannot read lines"
            )
        return spec_of_lines(replace(loaded, content=replace(loaded.content, spec=spec.original.as_json())))
    return spec


def tell_skipped(stream: Stream) -> None:
    """The first of the lines that were left out, on standard error."""
    for problem in problem_texts(stream.problems):
        click.echo(f"skipped: {problem}", err=True)


def tags(parsed: ParsedBlock) -> list[bytes]:
    """The tag of each row, empty for none."""
    if parsed.tags is None or not (parsed.tags[:, 1] > parsed.tags[:, 0]).any():
        return [b""] * len(parsed.examples)
    text = (parsed.block.text if parsed.text is None else parsed.text).tobytes()
    return [text[start:end] for start, end in parsed.tags.tolist()]


def tagged(texts: Sequence[bytes], tags: Sequence[bytes]) -> list[bytes]:
    """Each followed by its tag, if there is one."""
    return [text + (b" " + tag if tag else b"") for text, tag in zip(texts, tags, strict=True)]


def predictions_of(parsed: ParsedBlock) -> NDArray[np.float64]:
    """The predictions, which a stream of `predict` has."""
    assert parsed.predictions is not None
    return parsed.predictions


class PredictionText:
    """Predictions as lines: raw numbers, probabilities, the labels of the files, or the `top` classes.

    With more than two classes a line of numbers has one for each class, in the order of the classes.
    """

    def __init__(self, model: LoadedModel, kind: str, top: int | None = None) -> None:
        check_kind(model, kind if top is None else "probability")
        self._model, self._kind = model, kind
        self._classes = len(model.class_names or ())
        self._top = None if top is None else min(top, self._classes)

    def __call__(self, predictions: NDArray[np.float64]) -> list[bytes]:
        scores = Scores(self._model, predictions)
        if self._top is not None:
            ranks = range(self._top)
            columns = [zip(scores.label_at(k), scores.chance_at(k).tolist(), strict=True) for k in ranks]
            return [
                " ".join(f"{name}:{chance:.9g}" for name, chance in row).encode()
                for row in zip(*columns, strict=True)
            ]
        if self._kind == "label":
            return [str(name).encode() for name in scores.labels()]
        if self._kind == "probability":
            predictions = scores.chances if self._classes > 2 else scores.chances[:, 1]
        if predictions.ndim == 1:
            return [b"%.9g" % value for value in predictions.tolist()]
        return [b" ".join(b"%.9g" % value for value in row) for row in predictions.tolist()]


class RawLabels:
    """Labels as they stand in the files, to be shown beside predictions.

    The label of a table's row is a cell like any other. So a block is read once more with that cell
    as the rows' tag, and tags are given as they stand there.
    """

    def __init__(self, spec: InputSpec) -> None:
        self._rule = None if spec.original is None else spec.original.label_rule
        self._reader = None
        if spec.columns is not None and spec.columns.with_role(roles.LABEL):
            self._reader = replace(spec, columns=_label_as_tag(spec.columns)).reader()

    def read(self, parsed: ParsedBlock) -> list[str | float | None]:
        """Of each row: a number where it is one, else its name; None where there is no label."""
        if self._reader is not None:
            cells = tags(self._reader.parse(parsed.block))
            texts = [cell.decode("utf-8", "replace") for cell in cells]
            return [float(text) if is_number(text) else text.strip() or None for text in texts]
        return [None if np.isnan(label) else self._name(label) for label in parsed.examples.labels.tolist()]

    def _name(self, label: float) -> str | float:
        """Numbers stand for names where files have been converted."""
        if self._rule is None or label not in self._rule.values:
            return label
        name = self._rule.names[self._rule.values.index(label)]
        return f"not {self._rule.positive}" if name == ANYTHING else name


def _label_as_tag(columns: Columns) -> Columns:
    def role(column: Column) -> str:
        if column.role == roles.LABEL:
            return roles.TAG
        return roles.IGNORE if column.role == roles.TAG else column.role

    return replace(columns, columns=tuple(replace(column, role=role(column)) for column in columns.columns))
