"""What users hand in as X → a matrix that `examples` takes, without a copy wherever it already is one."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data


def matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a NumPy array or SciPy matrix of numbers. `reset`: remember its width and names, else check them.

    Values are left to `examples`, which looks at each once. scikit-learn's own check reads a sparse
    matrix several times, so it is kept for what needs converting and for what is wrong.
    """
    checked = X if _is_matrix_of_numbers(X) else _converted(estimator, X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return checked


def _is_matrix_of_numbers(X: Any) -> bool:
    known = type(X) in (np.ndarray, np.memmap) or sparse.issparse(X)
    return known and X.ndim == 2 and min(X.shape) > 0 and X.dtype.kind in "fiub"


def _converted(estimator: Any, X: Any) -> Any:
    try:
        checked = check_array(
            X, accept_sparse=True, dtype="numeric", ensure_all_finite=False, estimator=estimator
        )
        return checked if checked.dtype.kind in "fiub" else checked.astype(np.float64)
    except (TypeError, ValueError) as error:
        name = _column_of_no_numbers(X) if hasattr(X, "columns") else None
        if name is None:
            raise
        raise ValueError(
            f"column {name!r} holds not only numbers ({X[name].dtype}; {error}): encode it, or leave it out"
        ) from error


def _column_of_no_numbers(frame: Any) -> Any:
    for name in frame.columns:
        try:
            np.asarray(frame[name]).astype(np.float64)
        except (TypeError, ValueError):
            return name
    return None
