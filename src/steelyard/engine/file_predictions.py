"""Files that a model predicts, on as many threads as parse them; or lines, each of which gets an answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.protocol import Predicts
from steelyard.engine.run_options import RunOptions
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, two_classes
from steelyard.io.stream import Reader, Stream


class _Predicting:
    """A reader that also predicts what it has parsed, on the same thread."""

    def __init__(self, reader: Reader, engine: Predicts) -> None:
        self.numeric_labels = reader.numeric_labels
        self.blocks = reader.blocks
        self.nothing = reader.nothing
        self._reader = reader
        self._engine = engine

    def parse(self, block: Block) -> ParsedBlock:
        parsed = self._reader.parse(block)
        return parsed.predicted(self._engine.predict(parsed.examples))


def predict(
    engine: Predicts,
    spec: InputSpec,
    paths: Sequence[str],
    run: RunOptions,
    *,
    labelled: bool,
    prompt: bool = False,
) -> Stream:
    """The stream of the files with predictions. Labels are checked only where they matter.

    With `prompt`, no prediction is held back until more has been read.
    """
    return Stream(
        paths,
        _Predicting(spec.reader(), engine),
        loss=engine.settings[0].loss if labelled and engine.classes <= 2 else None,
        label_rule=spec.label_rule if labelled else None,
        propensities=spec.propensities and labelled,
        counted=spec.counted and labelled,
        weight_factor=spec.weight_factor,
        threads=run.usable_threads,
        skip=run.skip_errors,
        prompt=prompt,
        encoding=spec.encoding,
    )


def accept_any_labels(spec: InputSpec) -> InputSpec:
    """The same, but labels of tables may be anything: to predict a row, its label need make no sense."""
    if spec.columns is None:
        return spec
    return replace(spec, label_rule=two_classes(ANYTHING, "\0"), counted=False)


@dataclass(frozen=True)
class Answered:
    """Lines that follow one another: all of them rows, with their predictions, or one that is none."""

    parsed: ParsedBlock | None = None
    predictions: NDArray[np.float64] | None = None
    error: str | None = None
    """What is wrong with the line; None for a blank one."""


def predict_lines(reader: Reader, engine: Predicts, block: Block) -> Iterator[Answered]:
    """The answers, in the order of the lines, for programs that wait for each: also a bad one gets one.

    A block with a line that is no row is halved until that line is alone, so that the others need not be
    parsed one by one.
    """
    parsed = reader.parse(block)
    if not parsed.skipped and len(parsed.examples) == parsed.lines:
        yield Answered(parsed, engine.predict(parsed.examples))
        return
    ends = np.flatnonzero(block.text == ord("\n")) + 1
    if len(ends) == 1:
        yield Answered(error=parsed.notes[0].what if parsed.notes else None)
        return
    middle = int(ends[len(ends) // 2 - 1])
    for text in (block.text[:middle], block.text[middle:]):
        yield from predict_lines(reader, engine, replace(block, text=text))
