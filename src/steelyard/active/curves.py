"""Error against the fraction of labels paid for: the lower convex hull of many trials.

The hull is what one could have reached by choosing settings in hindsight, the way the paper draws it.
"""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def hull(fractions: NDArray[np.float64], errors: NDArray[np.float64]) -> Points:
    """The corners of the lower hull, from the smallest fraction to the least error."""
    order = np.lexsort((errors, fractions))
    corners: list[tuple[float, float]] = []
    for x, y in zip(fractions[order].tolist(), errors[order].tolist(), strict=True):
        while len(corners) >= 2 and _turns_up(corners[-2], corners[-1], (x, y)):
            corners.pop()
        if not corners or y < corners[-1][1]:
            corners.append((x, y))
    return np.array(corners)


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the straight line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def needed(fractions: NDArray[np.float64], errors: NDArray[np.float64], target: float) -> float:
    """The smallest fraction of labels with which a trial had at most this error; NaN if none had."""
    enough = fractions[errors <= target]
    return float(enough.min()) if len(enough) else float("nan")
