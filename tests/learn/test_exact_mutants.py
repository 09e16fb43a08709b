"""Kernels that break one part of the rule break the law, so the tests of the law can fail."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.examples import examples
from steelyard.learn import adaptive, clock, epochs, label_units, linear, standardized
from steelyard.learn.linear import FRACTION, NORM, NORM_START, SEEN, SEEN_START, STEEPEST
from steelyard.native.declare import PLAIN
from steelyard.settings import Settings
from tests.support.splits import apart, broken, cut, rows, taught

pytestmark = pytest.mark.skipif(not PLAIN, reason="parts of compiled kernels cannot be replaced")


def count_at_once(features: Any, fresh: Any, gained: Any, *rest: Any) -> None:
    """Rates do not stand still: what is gained in an epoch counts at once."""


def start_anew(now: Any, moment: Any, seen: Any, weight: Any) -> bool:
    """The steepest slope is forgotten between two parts of an epoch."""
    ended = _advance(now, moment, seen, weight)
    now[STEEPEST] = 0.0
    return bool(ended)


def move_norms(now: Any, q: Any, typical: Any) -> float:
    """The common factor follows the rows within an epoch."""
    now[SEEN_START], now[NORM_START] = now[SEEN], now[NORM]
    return float(_common_factor(now, q, typical))


def look_always(now: Any, known: Any, *rest: Any) -> float:
    """The unit of labels is looked up within an epoch."""
    fraction, now[FRACTION] = now[FRACTION], 0.0
    known[label_units.SET_AT] = -1.0
    found = _look_at_label(now, known, *rest)
    now[FRACTION] = fraction
    return float(found)


_advance, _common_factor = clock.advance, clock.common_factor
_look_at_label = label_units.look_at_label
MUTANTS: list[tuple[str, Callable[..., Any], str]] = [
    ("leave_open", count_at_once, "modified_huber"),
    ("advance", start_anew, "modified_huber"),
    ("common_factor", move_norms, "modified_huber"),
    ("look_at_label", look_always, "squared"),
]


def error(loss_name: str, **more: Any) -> float:
    loss = losses.by_name(loss_name)
    settings = Settings(loss, dtype="float64", **more)
    worst = 0.0
    for seed in range(2):
        matrix, labels, rng = rows(loss, seed)
        weights = broken(rng, len(labels))
        turns, parts = cut(weights, rng)
        one = taught(settings, examples(matrix, labels, weights))
        other = taught(settings, examples(matrix[turns], labels[turns], parts))
        worst = max(worst, apart(one, other, matrix))
    return worst


@pytest.mark.parametrize(
    ("name", "mutant", "loss"), MUTANTS, ids=[mutant.__name__ for _, mutant, _ in MUTANTS]
)
def test_the_law_is_broken(
    name: str, mutant: Callable[..., Any], loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert error(loss) < 1e-10
    for module in (epochs, standardized, adaptive):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, mutant)
    assert error(loss) > 1e-6


def test_payments_after_each_part_break_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """L1 and L2 are due at whole numbers."""
    assert error("logistic", scaling="plain", l2=0.1) < 1e-10
    monkeypatch.setattr(linear, "tick", lambda state, weight: 1.0)
    assert error("logistic", scaling="plain", l2=0.1) > 1e-6


def test_a_clock_that_is_not_cut_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of any weight is one epoch."""
    monkeypatch.setattr(epochs, "SLIVER", np.inf)
    assert error("modified_huber") > 1e-6
