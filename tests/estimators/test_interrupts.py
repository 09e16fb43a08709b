"""`partial_fit` that is interrupted has learned all or nothing, whenever the interrupt comes."""

import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor, Sweep, _interrupts

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3))
LABELS = (X @ np.arange(3.0) > 0.0).astype(int) + (X[:, 0] > 1.0)
WEIGHTS = RANDOM.exponential(size=40)

KINDS: dict[str, Any] = {
    "numbers": lambda: OnlineRegressor(),
    "two classes": lambda: OnlineClassifier(),
    "three classes": lambda: OnlineClassifier(),
    "auto": lambda: OnlineClassifier(learning_rate="auto"),
    "l1": lambda: OnlineClassifier(l1=0.01),
}


def learn(estimator: Any, name: str, part: slice) -> None:
    known = {} if name == "numbers" else {"classes": [0, 1, 2][: 3 if name == "three classes" else 2]}
    labels = X[:, 0] if name == "numbers" else np.minimum(LABELS, len(known["classes"]) - 1)
    estimator.partial_fit(X[part], labels[part], sample_weight=WEIGHTS[part], **known)


def state(estimator: Any, path: Path) -> tuple[Any, ...]:
    estimator.save(path)
    return path.read_bytes(), estimator.weight_summary_, estimator.n_iter_


def interrupted_at(number: int, event: str) -> Any:
    """A trace that interrupts at the event of this number within the package."""
    seen = 0

    def trace(frame: FrameType, kind: str, argument: Any) -> Any:
        nonlocal seen
        if "steelyard" not in frame.f_code.co_filename:
            return None
        if kind == event:
            seen += 1
            if seen == number:
                signal.raise_signal(signal.SIGINT)
        return trace

    return trace


def outcomes(name: str, event: str, path: Path) -> Iterator[tuple[Any, ...]]:
    """The state after an interrupt at each event in turn, as long as there is such an event."""
    for number in count(1):
        estimator = KINDS[name]()
        learn(estimator, name, slice(0, 20))
        before = sys.gettrace()
        sys.settrace(interrupted_at(number, event))
        try:
            learn(estimator, name, slice(20, 40))
        except KeyboardInterrupt:
            sys.settrace(before)
            yield state(estimator, path)
        else:
            return
        finally:
            sys.settrace(before)


def check(name: str, event: str, path: Path) -> None:
    whole = KINDS[name]()
    learn(whole, name, slice(0, 20))
    nothing = state(whole, path)
    learn(whole, name, slice(20, 40))
    everything = state(whole, path)
    found = list(outcomes(name, event, path))
    assert len(found) > 50
    for number, each in enumerate(found, 1):
        assert each in (nothing, everything), f"interrupted at {event} {number}"


@pytest.mark.no_cover
@pytest.mark.parametrize("name", KINDS)
def test_at_every_call(name: str, tmp_path: Path) -> None:
    check(name, "call", tmp_path / "m")


@pytest.mark.soak
@pytest.mark.parametrize("name", KINDS)
def test_at_every_line(name: str, tmp_path: Path) -> None:
    check(name, "line", tmp_path / "m")


def test_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = Sweep(OnlineClassifier(), {"learning_rate": [0.1, 0.4]})
    sweep.partial_fit(X, LABELS > 0, classes=[False, True])
    learned = sweep.best_estimator_.weight_summary_.rows
    original = Sweep._conclude

    def conclude(self: Any, *given: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        original(self, *given)

    monkeypatch.setattr(Sweep, "_conclude", conclude)
    with pytest.raises(KeyboardInterrupt):
        sweep.partial_fit(X, LABELS > 0)
    assert sweep.best_estimator_.weight_summary_.rows == 2 * learned


def test_where_interrupts_are_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with _interrupts.deferred():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
