"""Labels as they stand in the files, not as a loss takes them: to be shown beside predictions."""

from dataclasses import replace

import numpy as np

from steelyard.cli import scoring
from steelyard.io import columns as roles
from steelyard.io.blocks import ParsedBlock
from steelyard.io.columns import Column, Columns
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, is_number


class OwnLabels:
    """Of files that are read in some way, in which labels may be anything.

    The label of a table's row is a cell like any other. So a block is read once more with that cell
    as the rows' tag, and tags are given as they stand there.
    """

    def __init__(self, reading: InputSpec) -> None:
        self._rule = None if reading.original is None else reading.original.label_rule
        self._reader = None
        if reading.columns is not None and reading.columns.of(roles.LABEL):
            self._reader = replace(reading, columns=_label_as_tag(reading.columns)).reader()

    def of(self, parsed: ParsedBlock) -> list[str | float | None]:
        """Of each row: a number where it is one, else its name; None where there is no label."""
        if self._reader is not None:
            cells = scoring.tags(self._reader.parse(parsed.block))
            texts = [cell.decode("utf-8", "replace") for cell in cells]
            return [float(text) if is_number(text) else text.strip() or None for text in texts]
        return [None if np.isnan(label) else self._named(label) for label in parsed.examples.labels.tolist()]

    def _named(self, label: float) -> str | float:
        """Numbers stand for names where files have been converted."""
        if self._rule is None or label not in (self._rule.low, self._rule.high):
            return label
        if label == self._rule.high:
            return self._rule.positive
        return f"not {self._rule.positive}" if self._rule.negative == ANYTHING else self._rule.negative


def _label_as_tag(columns: Columns) -> Columns:
    def role(column: Column) -> str:
        if column.role == roles.LABEL:
            return roles.TAG
        return roles.IGNORE if column.role == roles.TAG else column.role

    return replace(columns, columns=tuple(replace(column, role=role(column)) for column in columns.columns))
