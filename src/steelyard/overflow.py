"""Overflow: which rows could drive a model out of the range of floats, and a backup that restores the model.

Rows with ordinary numbers cannot do that: the updates do not overshoot, so a coefficient is at most a label
divided by a feature. If some number is far from ordinary, or steps are explicit, the part of the model that the
rows touch is backed up, checked afterwards, and restored if it overflowed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Message, Parameter
from steelyard.array_table import ARRAYS
from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.model import Model
from steelyard.settings import Settings

# The largest feature, label, offset and weight of ordinary rows, and 1/the smallest feature. Coefficients then are
# within about 1e18, and their products with features within 1e27: far below 1e38, where float32 ends.
_ORDINARY = 1e9
ORDINARY_RATE = 1e3
_ORDINARY_COEFFICIENT = 1e20
_BY_FEATURE = {array.name for array in ARRAYS if array.by_feature}


def could_overflow(model: Model, examples: Examples) -> bool:
    """Return whether these rows might drive the model out of range; once true, it stays true for later rows."""
    if model.known_in_range is None:
        largest = np.abs(model.raw_coefficients).max(initial=0.0) if model.clock > 0.0 else 0.0
        model.known_in_range = bool(largest < _ORDINARY_COEFFICIENT and model.settings.rate <= ORDINARY_RATE)
    model.known_in_range = model.known_in_range and ordinary(examples)
    return not model.known_in_range or model.settings.update == "explicit"


def ordinary(examples: Examples) -> bool:
    """Return whether all numbers of these rows have ordinary sizes."""
    columns = [examples.labels, examples.sample_weight]
    if examples.offsets is not None:
        columns.append(examples.offsets)
    smallest, largest = examples.value_sizes
    within = largest <= _ORDINARY and (smallest >= 1.0 / _ORDINARY or largest == 0.0)
    return within and all(
        column.max(initial=0.0) <= _ORDINARY and column.min(initial=0.0) >= -_ORDINARY for column in columns
    )


def message(settings: Settings) -> Message:
    if settings.update == "explicit":
        return Message(
            f"the explicit update has left the range of {settings.dtype}: lower the learning rate, or use ",
            Parameter("update", "invariant"), ", which cannot overshoot",
        )  # fmt: skip
    return Message(
        f"a coefficient or prediction would leave the range of {settings.dtype}: scale features, labels and "
        "weights that are beyond 1e9, or features that are below 1e-9"
        + ("; or try float64" if settings.dtype == "float32" else "")
    )


class ModelBackup:
    """A copy of the numbers of a model that these rows may change."""

    def __init__(self, model: Model, examples: Examples) -> None:
        self._model, self._arrays = model, model.arrays()
        # Repeated features do no harm. Columns of numbers may change in rows that lack them, and regularisation
        # at times rewrites all coefficients.
        open_now = model.touched[: int(model.state[linear.TOUCHED])]
        touched = np.concatenate([examples.indices, model.columns.found, open_now])
        settings = model.settings
        all_change = (
            settings.l1 or settings.l2 or settings.average_power
        )  # the reference of averages may grow
        few = len(touched) < model.features and not all_change
        self._features = touched if few else slice(None)
        self._before = {name: self._part(name).copy() for name in self._arrays}

    @property
    def finite(self) -> bool:
        """Whether the model is still within the range of floats."""
        numbers = (self._part(name) for name in self._arrays if name != "state")
        return self._model.finite_state and all(bool(np.isfinite(each).all()) for each in numbers)

    def restore(self) -> None:
        """Give the model back the numbers that it had."""
        for name, array in self._arrays.items():
            array[self._indices_in(name)] = self._before[name]
        self._model.list_gains()

    def _part(self, name: str) -> NDArray[Any]:
        part: NDArray[Any] = self._arrays[name][self._indices_in(name)]
        return part

    def _indices_in(self, name: str) -> Any:
        by_feature = name in _BY_FEATURE and len(self._arrays[name]) > 0
        return self._features if by_feature else slice(None)
