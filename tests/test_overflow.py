"""Numbers near the ends of the range of floats: a model stays finite, or nothing was learned."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import OnlineClassifier, OnlineRegressor, losses, overflow, updates
from steelyard.examples import Examples, examples
from steelyard.learner import Learner
from steelyard.losses import Interval, Loss, OneOf
from steelyard.settings import Settings

SIZES = (5e-324, 6.5e-310, 1e-200, 1e-38, 1e-12, 1.0, 1e6, 1e12, 1e38, 1e150, 1.7e308)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """A solver that never ends must not hold up the tests. (Kernels end before the alarm is heard.)"""

    def too_long(*_: Any) -> None:
        raise TimeoutError(f"still busy after {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def drawn(rng: np.random.Generator, rows: int, loss: Loss, largest: float) -> Examples | None:
    """Rows with numbers from 1/largest to largest, or None where some are more than a chunk may have."""

    def numbers(*shape: int) -> Any:
        powers = np.clip(rng.choice([0.0, 1.0, 0.5, 0.1], shape) * np.log10(largest), 0.0, 307.9)
        sizes = 10.0 ** (powers * rng.choice([-1.0, 1.0], shape)) * (rng.random(shape) > 0.1)
        return sizes * rng.choice([-1.0, 1.0], shape)

    if isinstance(loss.labels, OneOf):
        labels = rng.choice(loss.labels.values, rows)
    else:
        assert isinstance(loss.labels, Interval)
        labels = numbers(rows)
        labels = np.where((labels > loss.labels.low) & (labels < loss.labels.high), labels, 0.25)
    try:
        return examples(numbers(rows, 3), labels, np.abs(numbers(rows)), loss=loss)
    except ValueError:  # values whose squares overflow, which are refused
        return None


KINDS = [
    Settings(losses.by_name(loss), update=update, scaling=scaling, dtype=dtype, learning_rate=rate, bias=bias)
    for (loss, update), scaling, (dtype, rate, bias) in product(
        [("squared", "invariant"), ("logistic", "implicit"), ("logarithmic", "invariant"),
         ("modified_huber", "second_order"), ("squared", "explicit")],
        ["plain", "standardized"],
        [("float32", None, True), ("float64", 1e12, False)],
    )
]  # fmt: skip


@pytest.mark.parametrize("settings", KINDS, ids=lambda kind: f"{kind.loss} {kind.update} {kind.scaling}")
def test_extreme_numbers_leave_a_finite_model_or_none(settings: Settings) -> None:
    rng = np.random.default_rng(0)
    raised = learned = 0
    for _ in range(60):
        learner = Learner(settings, 3)
        warm_up = drawn(rng, 4, settings.loss, 10.0)
        chunk = drawn(rng, 4, settings.loss, 10.0 ** rng.uniform(1.0, 308.0))
        if warm_up is None or chunk is None:
            continue
        learner.learn(warm_up)
        before = {name: array.copy() for name, array in learner.model.arrays().items()}
        try:
            predictions = learner.learn(chunk)
        except FloatingPointError:
            raised += 1
            for name, array in learner.model.arrays().items():
                kept = before[name] if len(before[name]) else np.zeros_like(array)  # there was room for gains
                np.testing.assert_array_equal(array, kept, err_msg=name)
            continue
        learned += 1
        assert learner.model.finite
        assert np.isfinite(predictions).all()
        others = (array for name, array in learner.model.arrays().items() if name != "state")
        assert all(np.isfinite(array).all() for array in others)
    assert learned > 0
    assert raised > 0 or settings.loss.labels != losses.by_name("squared").labels


@pytest.mark.parametrize("settings", [kind for kind in KINDS if kind.update != "explicit"][::2], ids=str)
def test_ordinary_numbers_never_leave_the_range(settings: Settings) -> None:
    rng = np.random.default_rng(1)
    learner = Learner(settings, 3)
    for _ in range(40):
        chunk = drawn(rng, 5, settings.loss, 0.99e9)
        assert chunk is not None
        assert overflow.ordinary(chunk)
        learner.learn(chunk)
        assert learner.model.known_in_range
        assert learner.model.finite


def rows_of(values: list[float], columns: list[int], width: int, labels: list[float]) -> Examples:
    places = np.arange(len(values), dtype=np.int32), np.array(columns, np.int32)
    matrix = sparse.csr_array((values, places), (len(values), width))
    return examples(matrix, labels)


@pytest.mark.parametrize("l2", [0.0, 1e-3])
@pytest.mark.parametrize("scaling", ["plain", "adaptive", "standardized"])
def test_a_wide_model_is_put_back_where_it_was_touched(scaling: Any, l2: float) -> None:
    learner = Learner(Settings(scaling=scaling, l2=l2, dtype="float32", learning_rate=0.5, bias=False), 50)
    learner.learn(rows_of([1.0, 2.0, 3.0], [3, 7, 49], 50, [1.0, -1.0, 2.0]))
    before = {name: array.copy() for name, array in learner.model.arrays().items()}
    bad = rows_of([1.0, 1e15, 1e15, 1e-30, 1e18], [3, 7, 7, 7, 7], 50, [1e300, -1e300, 1e300, 1e300, -1.0])
    with pytest.raises(FloatingPointError, match="would leave the range of float32: scale features, labels"):
        learner.learn(bad)
    for name, array in learner.model.arrays().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    learner.learn(rows_of([1.0], [3], 50, [1.0]))
    assert learner.model.finite


def test_a_model_that_learned_extreme_numbers_is_watched_from_then_on() -> None:
    learner = Learner(Settings(scaling="plain", dtype="float32", learning_rate=1.0, bias=False), 1)
    learner.learn(examples(np.array([[1e-12]]), [1e20]))
    assert learner.model.known_in_range is False
    learner.learn(examples(np.ones((1, 1)), [1.0]))
    assert learner.model.known_in_range is False
    loaded = Learner(model=Learner(learner.model.settings, 1).model)
    loaded.model.arrays()["weights"][:], loaded.model.arrays()["state"][0] = 1e30, 1.0
    loaded.learn(examples(np.ones((1, 1)), [1.0]))
    assert loaded.model.known_in_range is False


@pytest.mark.parametrize("classes", [2, 3])
def test_estimators_are_as_before(classes: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % classes
    rate: Any = "auto" if classes == 2 else 1.0
    model = OnlineClassifier("logistic", learning_rate=rate, scaling="plain", fit_intercept=False)
    model.partial_fit(X, y, classes=np.arange(classes))
    before = model.predict_proba(X)
    tiny = np.full((9, 2), 1e-19)
    with pytest.raises(FloatingPointError, match="features that are below 1e-9"):
        model.partial_fit(tiny, np.arange(9) % classes, sample_weight=np.full(9, 1e306))
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_weights_that_add_up_to_more_than_a_float_are_refused() -> None:
    model = OnlineRegressor(weight_scale="as_given")
    with pytest.raises(
        ValueError, match=r"weights of up to 1\.7e\+308 may add up to more than a float holds"
    ):
        model.partial_fit(np.ones((4, 1)), np.arange(4.0), sample_weight=np.full(4, 1.7e308))
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("name", losses.names())
def test_solvers_end_whatever_the_numbers(name: str) -> None:
    loss = losses.by_name(name)
    if isinstance(loss.labels, OneOf):
        labels = [float(value) for value in loss.labels.values]
    else:
        assert isinstance(loss.labels, Interval)
        labels = [y for y in (-1e300, -1.0, 5e-324, 0.5, 1e300) if loss.labels.low < y < loss.labels.high]
    if isinstance(loss.soft_labels, Interval):
        labels.append(0.5)
    points = (0.2166, *(sign * size for size in SIZES[::2] for sign in (1.0, -1.0)))
    with at_most(60):
        for p, y, u in product(points, labels, SIZES):
            for solve in (loss.flow, loss.implicit, loss.push_for):
                try:
                    solve(p, y, u)
                except ArithmeticError:  # of Python's math; kernels go on with infinity
                    continue


def test_every_update_is_known_here() -> None:
    assert {kind.update for kind in KINDS} == set(updates.names())
