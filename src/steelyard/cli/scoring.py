"""Models that score files: loading them, reading files as they do, and their predictions as text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from steelyard import losses, model_file
from steelyard.cli import options
from steelyard.engine import file_labels, file_predictions, probabilities
from steelyard.engine.file_rows import spec_of
from steelyard.engine.protocol import Engine, restore
from steelyard.io import columns as roles
from steelyard.io import compatibility, formats
from steelyard.io.blocks import ParsedBlock
from steelyard.io.columns import Column, Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, is_number
from steelyard.io.stream import Stream
from steelyard.io.transcoding import check_encoding
from steelyard.losses import Loss
from steelyard.model_file import ModelFile


@dataclass(frozen=True)
class LoadedModel:
    """A model file, ready to score."""

    path: Path
    content: ModelFile
    engine: Engine
    class_names: list[str] | None

    @property
    def loss(self) -> Loss:
        return self.engine.settings[0].loss

    @property
    def feature_names(self) -> dict[int, str]:
        """By index; of a model fitted in Python, those of its columns."""
        if self.content.names is not None:
            return self.content.names.by_index()
        columns = self.content.feature_names
        return {} if columns is None else dict(enumerate(map(str, columns.tolist())))

    def spec(self) -> InputSpec:
        """How it reads files; an error for a model that does not know."""
        return spec_of(self.content, self.path)

    def score(
        self, paths: list[str], given: dict[str, Any], *, labelled: bool = False
    ) -> tuple[InputSpec, Stream]:
        """How these files are read, and their stream with predictions; labels matter where `labelled`."""
        spec = read_spec(self, paths, given.get("labels"), given.get("encoding"))
        if not labelled:
            spec = file_predictions.accept_any_labels(spec)
        run = options.run_options(given)
        return spec, file_predictions.predict(
            self.engine, spec, paths, run, labelled=labelled, prompt=given.get("prompt", False)
        )


def load(path: Path, loss: str | None) -> LoadedModel:
    """`--loss module:Class` gives the loss of a model that was trained with a user's own."""
    try:
        content = model_file.load(path, options.own_loss(loss))
    except ValueError as error:
        if formats.by_suffix(str(path)) is None:
            raise
        raise InputError(f"{error}; the model comes before the files") from None
    return loaded(path, content)


def loaded(path: Path, content: ModelFile) -> LoadedModel:
    """The content of a model file, ready to score."""
    spec = None if content.spec is None else spec_of(content, path)
    return LoadedModel(path, content, restore(content.engine), _class_names(content, spec))


def _class_names(content: ModelFile, spec: InputSpec | None) -> list[str] | None:
    """As they are written in the files: 1.0 may be a class."""
    names = file_labels.class_names_of(content, spec)
    if names is None or spec is None or spec.converted or spec.label_rule is None:
        return None if names is None else list(map(str, names.tolist()))
    return list(spec.label_rule.names)


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
    spec = compatibility.spec_for(own, list(paths), str(model.path))
    if labels is None:
        return spec
    names = [name.strip() for name in labels.split(",")]
    known = model.class_names
    if known is None:
        raise InputError(f"--labels {labels}: the model predicts numbers, and knows no classes")
    if len(names) != len(known):
        raise InputError(f"--labels {labels}: the model has {len(known)} classes, {', '.join(known)}")
    return replace(spec, label_rule=file_labels.settle([], spec, [], model.loss, named=names).rule)


def tell_skipped(stream: Stream) -> None:
    """The first of the lines that were left out, on standard error."""
    for problem in stream.problems:
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
    """Predictions as lines: raw numbers, probabilities, or the labels of the files.

    With more than two classes a line of numbers has one for each class, in the order of the classes.
    """

    def __init__(self, model: LoadedModel, kind: str) -> None:
        self._loss = model.loss
        self._kind = kind
        self._calibration = model.content.calibration
        name = losses.name_of(self._loss) or type(self._loss).__name__
        known = self._calibration is not None or probabilities.has_probabilities(self._loss)
        if kind == "probability" and not (known and model.class_names):
            raise InputError(
                f"{name} loss has no probabilities, and the model was not calibrated: train it anew, without "
                "--no-calibrate"
                if model.class_names
                else f"{name} loss has no probabilities: its prediction is a number, --as raw"
            )
        if kind == "label" and model.class_names is None:
            raise InputError(f"{name} loss has no classes to name: its prediction is a number, --as raw")
        self._names = [each.encode() for each in model.class_names or ()]

    def __call__(self, predictions: NDArray[np.float64]) -> list[bytes]:
        if self._kind == "label":
            return [self._names[code] for code in probabilities.decide(self._loss, predictions).tolist()]
        if self._kind == "probability":
            chances = probabilities.class_probabilities(self._loss, predictions, self._calibration)
            predictions = chances if len(self._names) > 2 else chances[:, 1]
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
