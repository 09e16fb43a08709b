"""`PredictedTable`: the table that was given, with predictions as further columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.scoring.file_scores import FileScores, ScoredBlock
from steelyard.scoring.records import GivenRows, Records
from steelyard.scoring.score_columns import ScoreColumn, free_names
from steelyard.scoring.table_files import TableFile


class PredictedTable:
    """Rows that cannot be read have no predictions. Files without columns become a table of tags."""

    def __init__(self, scored: FileScores, columns: Sequence[ScoreColumn]) -> None:
        self._scored, self._columns = scored, columns
        self.rows: Records | GivenRows = scored.records or GivenRows(["tag"])
        self.added = free_names(columns, self.rows.names)
        self.renamed = [name for name, column in zip(self.added, columns, strict=True) if name != column.name]
        self.numeric = [column.numeric for column in columns]

    def copy(self, file: TableFile) -> None:
        """Score all files, and write their rows."""
        for block in self._scored:
            read = self._rows_of(block)
            if len(read):
                values = [_spread(column.values(block.scores), read) for column in self._columns]
                file.write(block.parsed.block, len(read), values)

    def _rows_of(self, block: ScoredBlock) -> NDArray[np.bool_]:
        """Which of the records of a block could be read."""
        if not isinstance(self.rows, GivenRows):
            return self.rows.read(block.parsed)
        self.rows.values = [[tag.decode("utf-8", "replace")] for tag in block.parsed.tag_texts()]
        return np.ones(len(block), bool)


def _spread(values: NDArray[Any], read: NDArray[np.bool_]) -> NDArray[Any]:
    """A value for each record; none where it could not be read."""
    if read.all():
        return values
    spread = np.full(len(read), None if values.dtype == object else np.nan, values.dtype)
    spread[read] = values
    return spread
