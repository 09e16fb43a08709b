"""Peers as people use them: on the columns as they are, or scaled, whichever does best.

The best is chosen by its log loss on the test rows, which favours the peer.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

NAME = "LogisticRegression"
SCALERS = """after `MaxAbsScaler`, or after `StandardScaler(with_mean=False)`; each set shows the one with the
  least log loss on the test rows, a choice that favours it."""
METHOD = f"""LogisticRegression with its defaults but for `max_iter=1000`: on the columns as they are,
  {SCALERS}"""

Figures = NDArray[np.float64]
"""A row for each shuffle; the first column is the log loss."""


def best(measure: Callable[[Pipeline], Figures], scaled: Any = None) -> Figures:
    """The best figures of LogisticRegression, or of another model, whose columns are always scaled."""
    scalers: list[list[Any]] = [[MaxAbsScaler()], [StandardScaler(with_mean=False)]]
    if scaled is None:
        scalers.append([])
    peer = LogisticRegression(max_iter=1000) if scaled is None else scaled
    found = [measure(make_pipeline(*scaler, clone(peer))) for scaler in scalers]
    return min(found, key=lambda figures: float(figures[:, 0].mean()))
