"""Small problems with known answers, and equality of estimators to the last bit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

TRUTH = np.array([2.0, -1.0, 0.5, 0.0])


def numbers(rows: int = 200, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A linear problem, almost without noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, len(TRUTH)))
    return X, X @ TRUTH + 0.01 * random.normal(size=rows)


def classes(rows: int = 200, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes that a plane separates."""
    X, y = numbers(rows, seed)
    return X, (y > 0.0).astype(np.int64)


def known(estimator: Any) -> dict[str, Any]:
    """All that an estimator holds, in a form that can be compared."""
    attributes = dict(vars(estimator))
    model = attributes.pop("model_", None)
    if model is not None:
        attributes |= {f"model.{name}": array.tobytes() for name, array in model._arrays().items()}
        attributes["settings"] = model.settings
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in attributes.items()
    }
