"""A column of predictions through a pointer."""

import numpy as np

from steelyard import losses
from steelyard.learn import pointwise
from steelyard.numba_tools import jit


def test_fill_is_the_method_one_by_one() -> None:
    loss = losses.by_name("logistic")
    predictions = np.linspace(-5.0, 5.0, 11)
    out = np.empty(11)
    pointwise.fill(jit.pointer(loss, "value"), predictions, 1.0, out)
    np.testing.assert_allclose(out, [loss.value(p, 1.0) for p in predictions], rtol=1e-15)


def test_fill_pairs_has_a_label_for_each() -> None:
    loss = losses.by_name("squared")
    predictions, labels = np.linspace(-5.0, 5.0, 11), np.linspace(3.0, -3.0, 11)
    out = np.empty(11)
    pointwise.fill_pairs(jit.pointer(loss, "value"), predictions, labels, out)
    np.testing.assert_allclose(out, 0.5 * (predictions - labels) ** 2, rtol=1e-15)
