"""Names of array types: one for each type, so that a name means the same everywhere."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Float64 in one dimension: a number for each row, setting or model."""

Matrix = NDArray[np.float64]
"""Float64 in two dimensions, such as predictions: a row for each example, a column for each model."""

Integers = NDArray[np.int64]
"""Int64 in one dimension, such as the numbers of rows, in the order in which they are learned."""
