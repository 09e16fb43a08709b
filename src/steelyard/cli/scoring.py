"""Predicting a stream with a stored model, on as many threads as parse it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from steelyard.cli import options, stored
from steelyard.cli.preparing import rule_of, threads
from steelyard.io import compatibility, formats, sources
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, two_classes
from steelyard.io.stream import Reader, Stream
from steelyard.learner import Learner


class _Predicting:
    """A format that also predicts what it has parsed, on the same thread."""

    def __init__(self, reader: Reader, learner: Learner) -> None:
        self.numeric_labels = reader.numeric_labels
        self.blocks = reader.blocks
        self.nothing = reader.nothing
        self._reader = reader
        self._learner = learner

    def parse(self, block: Block) -> ParsedBlock:
        parsed = self._reader.parse(block)
        return parsed.predicted(self._learner.predict(parsed.examples))


def loaded(path: Path, given: dict[str, Any]) -> stored.Stored:
    """The model; `--loss module:Class` gives one that was trained with a user's own loss."""
    loss = options.own_loss(given["loss"])
    try:
        return stored.load(path, loss)
    except ValueError as error:
        if formats.by_suffix(str(path)) is None:
            raise
        raise InputError(f"{error}; the model comes before the files") from None


def read(kept: stored.Stored, files: Sequence[str], given: dict[str, Any]) -> InputSpec:
    """How these files are read for the model.

    `--labels` says what the classes are called here, if not what they were called in training.
    """
    reading = compatibility.spec_for(kept.reading, sources.expand(files), str(kept.path))
    if given.get("labels"):
        return replace(reading, label_rule=rule_of(given["labels"], kept.model.settings.loss))
    return reading


def predicted(
    kept: stored.Stored, reading: InputSpec, files: Sequence[str], given: dict[str, Any], *, labelled: bool
) -> Stream:
    """The stream of the files with predictions. Labels are checked only where they matter."""
    loss = kept.model.settings.loss
    reader = _Predicting(reading.reader(), Learner(model=kept.model))
    return Stream(
        sources.expand(files),
        reader,
        loss=loss if labelled else None,
        label_rule=reading.label_rule if labelled else None,
        propensities=reading.propensities and labelled,
        weight_factor=reading.weight_factor,
        threads=threads(given["threads"]),
        skip=given["on_error"] == "skip",
    )


def whatever_labels(reading: InputSpec) -> InputSpec:
    """The same, but labels of tables may be anything: to predict a row, its label need make no sense."""
    return reading if reading.columns is None else replace(reading, label_rule=two_classes(ANYTHING, "\0"))


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


def of(parsed: ParsedBlock) -> NDArray[np.float64]:
    """The predictions, which a stream of `predicted` has."""
    assert parsed.predictions is not None
    return parsed.predictions
