"""The table of a model's arrays: their names, and how files, merges, lanes and backups treat each of them.

Files store arrays by this table, the guard against overflow backs them up, merges see which features were met,
and lanes have them side by side. A new array needs a row here and a line that makes it: in `Model`, and in
`LaneBlock` if lanes have it beside their weights.

Two numbers of a feature that are needed together are one complex number: the features of a row are scattered
over memory, and fetching costs the most. `Model.pairs` has each coefficient and its partner, which `PARTNERS`
names. If the partner is a unit, `Model.sums` has each sum of squared gradients and the lag of the average.
Coefficients with units and sums with lags, whatever the scaling, would be simpler: then learning took 1.3 to 1.8
times as long with adaptive scaling, 1.2 times with normalized.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.learn import linear
from steelyard.learn.lane_parts import COEFFICIENT, GRADIENTS, LAG, UNIT

Arrays = dict[str, NDArray[Any]]

PARTNERS = {"adaptive": "squares", "normalized": "squares", "standardized": "units"}
"""The array whose numbers lie beside coefficients, by scaling."""

# The length of `state` shows the age of a file: it is at least this long since there is standardized scaling,
# since averages follow L1 and L2, and since rates follow epochs.
STANDARDIZED, SHRINKAGE, EPOCHS = linear.REFERENCE + 1, linear.PAYMENTS + 1, linear.TOUCHED + 1

IN_COMMON, OF_EACH = "in common", "of each"  # arrays of lanes: one for all; one with a column for each


@dataclass(frozen=True)
class ModelArray:
    """A row of the table. With some settings the array is empty."""

    name: str
    """Its name in files."""
    attribute: str
    """Its attribute in a `Model`, and in a `LaneBlock` if `lanes` is set; it may be a view."""
    by_feature: bool = False
    """Whether it has a number for each feature, and files need only those of features that were met."""
    to_predict: bool = True
    """Whether predictions need it; if not, only learning does."""
    since: int = 0
    """Files with a shorter `state` lack it."""
    exact: bool = False
    """Whether it is in float64 with rates of features; in older files it has the type of the model."""
    unmet: str | None = None
    """The array with the number of features that were not met, if that is not 0."""
    count: tuple[str, int] | None = None
    """The array and the index of the number of its entries in use; files have no others."""
    grows: bool = False
    """Whether earlier releases had fewer entries."""
    lane_part: int | None = None
    """The part of the weights of lanes that it is."""
    lanes: str | None = None
    """IN_COMMON or OF_EACH if lanes have it as an array. Without this or a part, models with it learn alone."""

    def of(self, model: Any) -> NDArray[Any]:
        """Return the array of a model or a block."""
        array: NDArray[Any] = attrgetter(self.attribute)(model)
        return array

    def replace(self, model: Any, numbers: NDArray[Any]) -> None:
        """Replace the array of a model."""
        *owners, last = self.attribute.split(".")
        setattr(reduce(getattr, owners, model), last, numbers)


ARRAYS = (
    ModelArray("weights", "raw_coefficients", by_feature=True, exact=True, lane_part=COEFFICIENT),
    ModelArray(
        "squares", "sum_squared_gradients", by_feature=True, to_predict=False, exact=True, lane_part=GRADIENTS
    ),
    ModelArray("scales", "max_abs", by_feature=True, to_predict=False, lane_part=UNIT),
    ModelArray("units", "units", by_feature=True, since=STANDARDIZED, unmet="unit_fill", lane_part=UNIT),
    ModelArray("unit_fill", "unit_fill", since=STANDARDIZED, lanes=IN_COMMON),
    ModelArray("lag", "lag", by_feature=True, since=STANDARDIZED, exact=True, lane_part=LAG),
    ModelArray("gained", "gained", by_feature=True, to_predict=False, lanes=OF_EACH),
    ModelArray("origins", "columns.origins", by_feature=True, since=STANDARDIZED, lanes=IN_COMMON),
    ModelArray("columns", "columns.columns", since=STANDARDIZED, count=("column_counts", 0), lanes=IN_COMMON),
    ModelArray(
        "candidates", "columns.candidates", since=STANDARDIZED, count=("column_counts", 1), lanes=IN_COMMON
    ),
    ModelArray("column_counts", "columns.counts", since=STANDARDIZED, lanes=IN_COMMON),
    ModelArray("debts", "l1_applied", by_feature=True),
    ModelArray("debt_lags", "l1_lags", by_feature=True, since=SHRINKAGE),
    ModelArray("payments", "payments", since=SHRINKAGE, count=("state", linear.PAYMENTS)),
    ModelArray("label_state", "label_state", to_predict=False, lanes=OF_EACH),
    ModelArray("class_state", "class_state", to_predict=False, lanes=OF_EACH),
    ModelArray("state", "state", grows=True, lanes=OF_EACH),
)

LANE_PARTS = tuple((array.lane_part, array) for array in ARRAYS if array.lane_part is not None)


def met(model: Any, names: Collection[str]) -> NDArray[np.bool_]:
    """Return the features that were met: those with a number in any of these arrays."""
    features = np.zeros(model.features, bool)
    own: Arrays = model.arrays()
    for array in ARRAYS:
        if array.name in names and len(own[array.name]):
            features |= own[array.name] != (0.0 if array.unmet is None else own[array.unmet][0])
    return features
