"""Hypothesis strategies for whatever a loss says of itself: its labels, its domain."""

import math
import random
from collections.abc import Callable

from hypothesis import strategies as st

from steelyard.losses import Interval, Loss, OneOf

small = st.floats(-5.0, 5.0)


def members(of: Interval | OneOf) -> st.SearchStrategy[float]:
    if isinstance(of, OneOf):
        return st.sampled_from(of.values)
    if math.isinf(of.low):
        return st.one_of(small, st.floats(-700.0, 700.0))
    return st.floats(of.low, of.high, exclude_min=True, exclude_max=True)


def labels(loss: Loss) -> st.SearchStrategy[float]:
    if loss.soft_labels is None:
        return members(loss.labels)
    return st.one_of(members(loss.labels), members(loss.soft_labels))


def predictions(loss: Loss) -> st.SearchStrategy[float]:
    """From −700 to 700, with its share near 0 and in the domain."""
    return st.one_of(members(loss.domain), small, st.floats(-700.0, 700.0))


pushes = st.one_of(st.floats(-300.0, 300.0), st.floats(-6.0, 6.0)).map(lambda x: 10.0**x)


def sampler(rng: random.Random, of: Interval | OneOf) -> Callable[[], float]:
    """Plain random draws, for tests that want many."""
    if isinstance(of, OneOf):
        return lambda: rng.choice(of.values)
    if math.isinf(of.low):
        return lambda: rng.gauss(0.0, 1.0) * 10.0 ** rng.uniform(-2.0, 1.0)
    return lambda: rng.uniform(of.low - 0.2, of.high + 0.2)
