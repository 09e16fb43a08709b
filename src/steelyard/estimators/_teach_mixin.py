"""`TeachMixin`: labels that an `ActiveClassifier` did not ask for."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.active.learner import ActiveLearner
from steelyard.examples import Examples


class TeachMixin:
    """For pools and streams."""

    learner_: ActiveLearner
    pool_: Examples | None
    _order: NDArray[np.int64]

    def teach(self, X: Any, y: Any) -> Self:
        """Learn labels that it did not ask for: relevant examples to begin with, or those of an old project.

        They cost no budget. The rows are not asked for any more, and are in no estimate, which are made from
        rows that were drawn. A row that has a label keeps it, and must not get another one.

        Parameters
        ----------
        X : list of int; array, sparse matrix or frame
            Rows of the pool, by their number in it; in a stream, the rows themselves.
        y : list of classes
            One for each.
        """
        column = np.asarray(y)
        if self.pool_ is not None:
            rows = np.asarray(X)
            if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
                raise ValueError("there is a pool: give the numbers of its rows, from 0, not the rows")
            outside = [row for row in rows.tolist() if not 0 <= row < len(self.pool_)]
            if outside:
                raise ValueError(f"row {outside[0]} is not in the pool, which has {len(self.pool_):,} rows")
            chunk, numbers = self.pool_, np.argsort(self._order)[rows].tolist()
        else:
            chunk = self._rows(X)
            rows = np.arange(len(chunk))
            first = -1 - sum(number < 0 for number in self.learner_.journal.turns())
            numbers = [first - row for row in rows.tolist()]
        if len(numbers) != len(column):
            raise ValueError(f"there are {len(numbers)} rows but {len(column)} labels")
        if len(set(numbers)) < len(numbers):
            raise ValueError("a row is there twice")
        codes = self._coded(column).tolist()
        with self.learner_.lock:
            known = self.learner_.labels
            for number, row, code in zip(numbers, rows.tolist(), codes, strict=True):
                if known.get(number, code) != code:
                    raise ValueError(f"row {row} has another label already; take that back first")
            self.learner_.teach(
                dict(zip(numbers, codes, strict=True)), dict(zip(numbers, rows.tolist(), strict=True)), chunk
            )
        return self

    @property
    def n_taught_(self) -> int:
        """The number of labels that it has learned and did not ask for."""
        return self.learner_.taught

    @abstractmethod
    def _rows(self, X: Any, expected: int | None = None) -> Examples: ...

    @abstractmethod
    def _coded(self, column: NDArray[Any]) -> NDArray[np.float64]: ...
