"""Small problems with known answers, and equality of estimators to the last bit."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

TRUTH = np.array([2.0, -1.0, 0.5, 0.0])

# `fit` as one stream: what `partial_fit` and files do
STREAM: dict[str, Any] = {"passes": 1, "shuffle": False}


def numbers(rows: int = 200, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A linear problem, almost without noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, len(TRUTH)))
    return X, X @ TRUTH + 0.01 * random.normal(size=rows)


def classes(rows: int = 200, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes that a plane separates."""
    X, y = numbers(rows, seed)
    return X, (y > 0.0).astype(np.int64)


def several_classes(
    rows: int = 200, count: int = 3, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Classes that lie in different directions, each with a plane between it and the rest."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    corners = np.random.default_rng(99).normal(size=(count, 4))
    return X, np.argmax(X @ corners.T, axis=1)


def known(estimator: Any) -> dict[str, Any]:
    """All that an estimator holds, in a form that can be compared."""
    attributes = dict(vars(estimator))
    state = attributes.pop("_fitted_state", None)
    if state is not None:
        engine = state.engine
        attributes |= {field.name: getattr(state, field.name) for field in fields(state)[1:]}
        attributes |= {f"model.{name}": array.tobytes() for name, array in _numbers(engine).items()}
        attributes["settings"] = engine.settings
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in attributes.items()
    }


def _numbers(engine: Any) -> dict[str, NDArray[Any]]:
    """Without what only the padding of its arrays holds, and what nobody reads."""
    if not hasattr(engine, "model_set"):
        arrays: dict[str, NDArray[Any]] = engine.model.arrays()
        return arrays | {"error": np.array(engine.error)}
    every = [engine.model_set.model(number).arrays() for number in range(len(engine.model_set))]
    named = {
        f"{number}.{name}": array for number, arrays in enumerate(every) for name, array in arrays.items()
    }
    return named | {"error": engine.error, "diverged": engine.diverged}
