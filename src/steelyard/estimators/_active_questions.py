"""`ActiveQuestion`: a row whose label is wanted; strategies, the positive class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active import strategies
from steelyard.active.strategies._base import Strategy


@dataclass(frozen=True)
class ActiveQuestion:
    """A row whose label is wanted."""

    id: int
    """For `answer`: its number in the stream, from 0."""
    row: int
    """Its row in the matrix that was given, or in the pool."""
    probability: float
    """With which it was asked for."""
    prediction: Any
    """The class that the model expects."""


def find_strategy(given: Any) -> Strategy:
    if isinstance(given, str):
        return strategies.by_name(given)
    if not isinstance(given, Strategy):
        hint = f"; give an instance, {given.__name__}()" if isinstance(given, type) else ""
        raise TypeError(f"strategy must be a name or an instance of Strategy; got {given!r}{hint}")
    return given


def choose_positive(given: Any, classes: Sequence[Any], known: NDArray[Any]) -> Any:
    """The class whose recall is meant: the one given, or the second of `classes` in the user's own order."""
    wanted = np.asarray(classes).ravel()[1] if given is None else given
    found = known[known == wanted]
    if len(found) != 1:
        raise ValueError(f"positive={given!r} is not one of the classes {known.tolist()}")
    return found.tolist()[0]
