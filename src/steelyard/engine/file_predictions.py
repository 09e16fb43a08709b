"""Files that a model predicts, on as many threads as parse them; or lines, each of which gets an answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.protocol import Predicts
from steelyard.engine.run_options import RunOptions
from steelyard.io.blocks import Block, LineReader, ParsedBlock, find_bad_lines
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
class PredictedLines:
    """The lines of a block and their predictions, for programs that wait for an answer to each line."""

    parsed: ParsedBlock
    predictions: NDArray[np.float64]
    lines: list[bytes]
    rows: list[int | str | None]
    """For each line: which of the rows it is, what is wrong with it, or None if it is blank."""


def predict_lines(reader: LineReader, engine: Predicts, block: Block) -> PredictedLines:
    parsed = reader.parse(block)
    lines = block.text.tobytes().split(b"\n")[:-1]
    rows: list[int | str | None] = list(range(len(parsed.examples)))
    if len(rows) < len(lines):
        wrong, following = find_bad_lines(reader.parse, parsed), iter(rows)
        rows = [
            wrong[place] if place in wrong else None if reader.is_blank(line) else next(following)
            for place, line in enumerate(lines)
        ]
    return PredictedLines(parsed, engine.predict(parsed.examples), lines, rows)
