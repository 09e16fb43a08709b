"""Numbers that leave their range: what could do that, and a model put back as it was.

Rows with ordinary numbers cannot drive a model out of the range of floats: the updates do not overshoot, so a
coefficient is at most a label divided by a feature. Only where some number is far from ordinary, or steps
are explicit, is the part of the model that the rows touch kept, looked at afterwards, and put back.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.array_table import ARRAYS
from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.model import Model, Settings

# The largest feature, label, offset and weight, and 1/the smallest feature, of ordinary rows. A coefficient
# is then within 1e18 or so, and its product with a feature within 1e27: far from 1e38, where float32 ends.
_ORDINARY = 1e9
ORDINARY_RATE = 1e3
_ORDINARY_COEFFICIENT = 1e20
_BY_FEATURE = {array.name for array in ARRAYS if array.by_feature}


def could_overflow(model: Model, examples: Examples) -> bool:
    """Whether these rows might drive the model out of range, and from then on, all that come after them."""
    if model.tame is None:
        largest = np.abs(model.raw_coefficients).max(initial=0.0) if model.clock > 0.0 else 0.0
        model.tame = bool(largest < _ORDINARY_COEFFICIENT and model.settings.rate <= ORDINARY_RATE)
    model.tame = model.tame and ordinary(examples)
    return not model.tame or model.settings.update == "explicit"


def ordinary(examples: Examples) -> bool:
    """Whether all numbers of these rows are of the sizes that people have in their tables."""
    columns = [examples.labels, examples.sample_weight]
    if examples.offsets is not None:
        columns.append(examples.offsets)
    smallest, largest = examples.value_sizes
    within = largest <= _ORDINARY and (smallest >= 1.0 / _ORDINARY or largest == 0.0)
    return within and all(
        column.max(initial=0.0) <= _ORDINARY and column.min(initial=0.0) >= -_ORDINARY for column in columns
    )


def message(settings: Settings) -> str:
    if settings.update == "explicit":
        return (
            f"the explicit update has left the range of {settings.dtype}: "
            "lower the learning rate, or use update='invariant', which cannot overshoot"
        )
    return (
        f"a coefficient or prediction would leave the range of {settings.dtype}: scale features, labels and "
        "weights that are beyond 1e9, or features that are below 1e-9"
        + ("; or try float64" if settings.dtype == "float32" else "")
    )


class Kept:
    """The numbers of a model that these rows may change, as they are now."""

    def __init__(self, model: Model, examples: Examples) -> None:
        self._model, self._arrays = model, model.arrays()
        # Features may be repeated here, which does no harm: all their numbers are from before. Columns of
        # numbers may change in rows that lack them, and regularisation at times rewrites all coefficients.
        open_now = model.touched[: int(model.state[linear.TOUCHED])]
        touched = np.concatenate([examples.indices, model.columns.found, open_now])
        settings = model.settings
        all_change = settings.l1 or settings.l2 or settings.average_power  # as their reference grows
        few = len(touched) < model.features and not all_change
        self._places = touched if few else slice(None)
        self._before = {name: self._part(name).copy() for name in self._arrays}

    @property
    def finite(self) -> bool:
        numbers = (self._part(name) for name in self._arrays if name != "state")
        return self._model.finite_state and all(bool(np.isfinite(each).all()) for each in numbers)

    def put_back(self) -> None:
        for name, array in self._arrays.items():
            array[self._places_in(name)] = self._before[name]
        self._model.list_gains()

    def _part(self, name: str) -> NDArray[Any]:
        part: NDArray[Any] = self._arrays[name][self._places_in(name)]
        return part

    def _places_in(self, name: str) -> Any:
        by_feature = name in _BY_FEATURE and len(self._arrays[name]) > 0
        return self._places if by_feature else slice(None)
