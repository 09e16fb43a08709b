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
from steelyard.io import look, sources
from steelyard.io.blocks import Block
from steelyard.io.labels import ANYTHING, LabelRule
from steelyard.io.parsed import Parsed
from steelyard.io.stream import Format, Stream
from steelyard.learner import Learner


class _Predicting:
    """A format that also predicts what it has parsed, on the same thread."""

    def __init__(self, reader: Format, learner: Learner) -> None:
        self.numeric_labels = reader.numeric_labels
        self.blocks = reader.blocks
        self.nothing = reader.nothing
        self._reader = reader
        self._learner = learner

    def parse(self, block: Block) -> Parsed:
        parsed = self._reader.parse(block)
        return parsed.predicted(self._learner.predict(parsed.examples))


def loaded(path: Path, given: dict[str, Any]) -> stored.Stored:
    """The model; `--loss module:Class` gives one that was trained with a user's own loss."""
    return stored.load(path, options.own_loss(given["loss"]))


def predicted(kept: stored.Stored, files: Sequence[str], given: dict[str, Any], *, labelled: bool) -> Stream:
    """The stream of the files with predictions. Labels are checked only where they matter.

    `--labels` says what the classes are called here, if not what they were called in training.
    """
    paths = sources.expand(files)
    reading, loss = kept.reading, kept.model.settings.loss
    if reading.original is not None:
        reading = reading.for_format(look.format_of(paths))
    if given.get("labels"):
        reading = replace(reading, label_rule=rule_of(given["labels"], loss))
    reader = _Predicting(reading.reader(), Learner(model=kept.model))
    return Stream(
        paths,
        reader,
        loss=loss if labelled else None,
        label_rule=reading.label_rule if labelled else None,
        propensities=reading.propensities and labelled,
        weight_factor=reading.weight_factor,
        threads=threads(given["threads"]),
        skip=given["on_error"] == "skip",
    )


def whatever_labels(kept: stored.Stored) -> stored.Stored:
    """The same, but labels of tables may be anything: to predict a row, its label need make no sense."""
    if kept.reading.columns is None:
        return kept
    positive = "\0" if kept.reading.label_rule is None else kept.reading.label_rule.positive
    return replace(kept, reading=replace(kept.reading, label_rule=LabelRule(ANYTHING, positive)))


def tell_skipped(stream: Stream) -> None:
    """The first of the lines that were left out, on standard error."""
    for problem in stream.problems:
        click.echo(f"skipped: {problem}", err=True)


def tags(parsed: Parsed) -> list[bytes]:
    """The tag of each row, empty for none."""
    if parsed.tags is None or not (parsed.tags[:, 1] > parsed.tags[:, 0]).any():
        return [b""] * len(parsed.examples)
    text = (parsed.block.text if parsed.text is None else parsed.text).tobytes()
    return [text[start:end] for start, end in parsed.tags.tolist()]


def of(parsed: Parsed) -> NDArray[np.float64]:
    """The predictions, which a stream of `predicted` has."""
    assert parsed.predictions is not None
    return parsed.predictions
