"""`Examples`: a validated chunk of the stream, in which rows are passed on.

In an `Examples` every index is in bounds, every number finite, no feature occurs twice in a row and no weight is
negative: kernels need no checks. Inputs are never modified, and not copied if they are well formed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.learn import rows
from steelyard.losses import Interval, Loss

# Squares of values up to these add up to finite numbers, in the type of the values
LARGEST = {"float32": 1e17, "float64": 1e150}


@dataclass(frozen=True)
class Examples:
    """Rows of features in CSR form, each with a label and a weight.

    If `dense`, the matrix is dense: all rows share the list of indices 0, 1, 2, …
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.integer[Any]]
    values: NDArray[np.floating[Any]]
    dense: bool
    features: int
    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64] | None = None
    """A number for each row that is added to w·x; None for nothing."""
    checked_sizes: tuple[float, float] | None = None
    """`value_sizes`, if the check of a matrix has found them: code that replaces values must replace this, too."""

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def value_sizes(self) -> tuple[float, float]:
        """The smallest |value| other than 0, and the largest."""
        return sizes(self.values) if self.checked_sizes is None else self.checked_sizes

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], bool]:
        """The features as kernels take them."""
        return self.indptr, self.indices.astype(np.int32, copy=False), self.values, self.dense

    @property
    def targets(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Labels, weights and offsets as kernels take them."""
        return np.ascontiguousarray(self.labels), np.ascontiguousarray(self.sample_weight), self.offsets_array

    @property
    def offsets_array(self) -> NDArray[np.float64]:
        """The offsets as kernels take them: empty where there are none."""
        return _NONE if self.offsets is None else np.ascontiguousarray(self.offsets)

    def take(self, order: NDArray[np.integer[Any]]) -> "Examples":
        """Return these rows, in this order."""
        labels, sample_weight = self.labels[order], self.sample_weight[order]
        offsets = None if self.offsets is None else self.offsets[order]
        if self.dense:
            values = self.values.reshape(len(self), self.features)[order].ravel()
            indptr = self.indptr[: len(order) + 1]
            return Examples(indptr, self.indices, values, True, self.features, labels, sample_weight, offsets)
        starts = self.indptr[order]
        lengths = self.indptr[order + 1] - starts
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        entries = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
        indices, values = self.indices[entries], self.values[entries]
        return Examples(indptr, indices, values, False, self.features, labels, sample_weight, offsets)


_MOST_FEATURES = np.iinfo(np.int32).max


_NONE: NDArray[np.float64] = np.zeros(0)


def sizes(values: NDArray[np.floating[Any]]) -> tuple[float, float]:
    """Return the smallest absolute value other than 0, and the largest: NaN or infinity if there is one."""
    bits = values.view(np.uint32 if values.dtype == np.float32 else np.uint64)
    no_sign = bits.dtype.type((1 << (8 * bits.itemsize - 1)) - 1)
    smallest, largest = np.array(rows.sizes(bits, no_sign), bits.dtype).view(values.dtype)
    return float(smallest), float(largest)


def join(parts: Sequence[Examples]) -> Examples:
    """Join the rows of parts; all of them are sparse or all dense, with equal features."""
    indptr = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum().astype(np.int64)
    indices, values, labels, sample_weight = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("indices", "values", "labels", "sample_weight")
    )
    offsets = None
    if any(part.offsets is not None for part in parts):
        offsets = np.concatenate([_offsets_or_zeros(part) for part in parts])
    dense = parts[0].dense
    if dense:
        indices = parts[0].indices
    return Examples(indptr, indices, values, dense, parts[0].features, labels, sample_weight, offsets)


def _offsets_or_zeros(part: Examples) -> NDArray[np.float64]:
    return np.zeros(len(part)) if part.offsets is None else part.offsets


def examples(
    matrix: Any,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    offsets: ArrayLike | None = None,
    loss: Loss | None = None,
    features: int | None = None,
) -> Examples:
    """Check and wrap a dense or SciPy sparse matrix, its labels and sample_weight.

    Without labels the rows can only be predicted; without sample_weight each weighs 1. `offsets`, such as
    the predictions of another model, are added to the predictions of their rows; only the rest is learned.
    """
    indptr, indices, values, dense, width = _csr(matrix) if hasattr(matrix, "tocsr") else _dense(matrix)
    if features is not None and width != features:
        raise ValueError(f"the rows have {width} features, the model {features}")
    count = len(indptr) - 1
    checked_sizes = sizes(values)
    if not checked_sizes[1] <= LARGEST[values.dtype.name]:
        raise ValueError(_bad_value(indptr, indices, values, dense))
    given_labels = np.zeros(count) if labels is None else _column("labels", labels, count)
    if labels is not None:
        check_labels(given_labels, loss)
    weights = np.ones(count) if sample_weight is None else _column("importance weights", sample_weight, count)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(bad):
        weight = weights[bad[0]]
        raise ValueError(f"row {bad[0]} has the weight {weight}: weights must be finite, 0 or more")
    if weights.max(initial=0.0) > np.finfo(np.float64).max / max(count, 1):
        raise ValueError(
            f"weights of up to {weights.max()} may add up to more than a float holds: divide them"
        )
    given_offsets = None if offsets is None else _column("offsets", offsets, count)
    if given_offsets is not None and not np.isfinite(given_offsets).all():
        row = int(np.argmin(np.isfinite(given_offsets)))
        raise ValueError(f"row {row} has the offset {given_offsets[row]}: offsets must be finite")
    return Examples(
        indptr, indices, values, dense, width, given_labels, weights, given_offsets, checked_sizes
    )


def _csr(matrix: Any) -> tuple[NDArray[np.int64], Any, Any, bool, int]:
    csr = matrix if matrix.format == "csr" else matrix.tocsr()
    height, width = csr.shape
    values = np.ascontiguousarray(_floating(csr.data))
    indices = np.ascontiguousarray(csr.indices)
    indptr = np.ascontiguousarray(csr.indptr, np.int64)
    if (
        len(indptr) != height + 1
        or indptr[0] != 0
        or np.any(np.diff(indptr) < 0)
        or indptr[-1] > min(len(indices), len(values))
        or indices.dtype not in (np.int32, np.int64)
        or values.ndim != 1
    ):
        raise ValueError("the sparse matrix is damaged: its row pointers, indices and values do not match")
    if width > _MOST_FEATURES:
        raise ValueError(f"the matrix is {width:,} wide: there may be {_MOST_FEATURES:,} features")
    indices, values = indices[: indptr[-1]], values[: indptr[-1]]
    if rows.increasing_within(indptr, indices, width):
        return indptr, _narrow(indices), values, False, width
    bad = rows.first_bad_index(indices, width)
    if bad >= 0:
        raise ValueError(
            f"row {_row_of(indptr, bad)} has the feature index {indices[bad]}: the matrix is {width} wide"
        )
    if rows.has_duplicates(indptr, indices, np.full(width, -1, np.int64)):
        from scipy import sparse  # not at the top: a tenth of a second that dense rows need not wait

        merged = sparse.csr_array((values.copy(), indices.copy(), indptr.copy()), csr.shape)
        merged.sum_duplicates()
        indptr, indices, values = merged.indptr.astype(np.int64, copy=False), merged.indices, merged.data
    return indptr, _narrow(indices), values, False, width


def _narrow(indices: NDArray[Any]) -> NDArray[np.int32]:
    """Return indices, which are within bounds, as kernels take them; SciPy has wide ones from 2³¹ entries on."""
    return indices.astype(np.int32, copy=False)


def _dense(matrix: Any) -> tuple[NDArray[np.int64], Any, Any, bool, int]:
    array = _floating(np.asarray(matrix))
    if array.ndim != 2:
        raise ValueError(f"features must be a matrix of two dimensions, one row an example; got {array.ndim}")
    height, width = array.shape
    indptr = np.arange(height + 1, dtype=np.int64) * width
    return indptr, np.arange(width, dtype=np.int32), np.ascontiguousarray(array).ravel(), True, width


def _floating(array: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Return float32 and float64 unchanged, other numbers as float64."""
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return array
    if array.dtype.kind not in "biuf":
        raise ValueError(f"features must be numbers, not {array.dtype}")
    return array.astype(np.float64)


def _column(what: str, values: ArrayLike, count: int) -> NDArray[np.float64]:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (count,):
        raise ValueError(f"there are {count} rows but {what} of shape {column.shape}")
    return column


def _bad_value(indptr: NDArray[np.int64], indices: NDArray[Any], values: NDArray[Any], dense: bool) -> str:
    finite = np.isfinite(values)
    bad = int(np.argmax(np.abs(values))) if finite.all() else int(np.argmin(finite))
    rule = (
        "its square overflows; scale the column"
        if finite.all()
        else "values must be finite, not NaN or infinite"
    )
    row = _row_of(indptr, bad)
    column = indices[bad - indptr[row] if dense else bad]
    return f"row {row} has the feature value {values[bad]} in column {column}: {rule}"


def check_width(rows: Examples, features: int) -> None:
    """Check that the model has a coefficient for every feature: kernels do not."""
    if rows.features > features:
        raise ValueError(f"the rows have {rows.features} features, the model {features}")


def allowed(labels: NDArray[np.float64], loss: Loss) -> NDArray[np.bool_]:
    """Return which of the labels the loss takes."""
    fits = np.zeros(len(labels), bool)
    for accepted in (loss.labels, loss.soft_labels):
        if isinstance(accepted, Interval):
            fits |= (accepted.low < labels) & (labels < accepted.high)
        elif accepted is not None:
            for value in accepted.values:
                fits |= labels == value
    return fits


def check_labels(labels: NDArray[np.float64], loss: Loss | None, learned: Any = True) -> None:
    """Check that labels are finite, and allowed by the loss; `learned` may mark the rows to check."""
    bad = np.flatnonzero(learned & ~np.isfinite(labels))
    rule = "labels must be finite"
    if loss is not None and not len(bad):
        bad = np.flatnonzero(learned & ~allowed(labels, loss))
        rule = f"{type(loss).__name__} loss takes {loss.labels_in_words()}"
    if len(bad):
        raise ValueError(f"row {bad[0]} has the label {labels[bad[0]]}: {rule}")


def _row_of(indptr: NDArray[np.int64], entry: int) -> int:
    return int(np.searchsorted(indptr, entry, side="right")) - 1
