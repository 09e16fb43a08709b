"""`PredictingReader`: a reader whose blocks come with predictions: of files, of lines, of batches of a table."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.protocol import Predicts
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, two_classes
from steelyard.io.stream import Reader


class PredictingReader:
    """Parses a block and predicts its rows, on whatever thread it is called."""

    def __init__(self, reader: Reader, engine: Predicts) -> None:
        self.numeric_labels = reader.numeric_labels
        self.blocks = reader.blocks
        self.nothing = reader.nothing
        self.reader, self._engine = reader, engine

    def parse(self, block: Block) -> ParsedBlock:
        parsed = self.reader.parse(block)
        return parsed.predicted(self._engine.predict(parsed.examples))

    def predict(self, block: Block) -> NDArray[np.float64]:
        """The predictions of a block of which every row can be read; else an error."""
        parsed = self.reader.parse(block)
        for note in parsed.notes[:1]:
            raise InputError(f"{block.path}, row {note.line + 1}: ", note.what)
        return self._engine.predict(parsed.examples)


def accept_any_labels(spec: InputSpec) -> InputSpec:
    """Let labels of tables be anything: a row can be predicted whatever its label is.

    The rule names two classes, any label and one that no file has, so that every label is known.
    """
    if spec.columns is None:
        return spec
    return replace(spec, label_rule=two_classes(ANYTHING, "\0"), counted=False)
