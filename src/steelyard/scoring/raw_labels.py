"""`RawLabels`: labels as they stand in the files."""

from dataclasses import replace

import numpy as np

from steelyard.io import columns as roles
from steelyard.io.blocks import ParsedBlock
from steelyard.io.columns import Column, Columns
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, is_number


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
        """The label of each row: a number where it is one, else its name; None where there is none."""
        if self._reader is not None:
            cells = self._reader.parse(parsed.block).tag_texts()
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
