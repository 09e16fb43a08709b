"""Binding losses to pointers, and the disk cache."""

import ctypes
import io
import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config, njit

import steelyard
from steelyard import losses, updates
from steelyard.losses import Loss
from steelyard.numba_tools import jit


def call(pointer: Any, *args: float) -> float:
    """A pointer is an address; with the compiler switched off it is a plain function."""
    if hasattr(pointer, "address"):
        pointer = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * len(args))(pointer.address)
    return float(pointer(*args))


@pytest.mark.parametrize("name", losses.names())
def test_compiled_is_plain(name: str) -> None:
    """The same bits, from the same source."""
    loss = losses.by_name(name)
    for y in (0.0, 1.0) if name in ("logarithmic", "hellinger", "tanh_logarithmic") else (-1.0, 1.0):
        for p in (-30.0, -1.0, 0.0, 0.4, 1.0, 25.0):
            assert call(jit.pointer(loss, "value"), p, y) == pytest.approx(loss.value(p, y), rel=1e-15)
            assert call(jit.pointer(loss, "derivative"), p, y) == pytest.approx(
                loss.derivative(p, y), rel=1e-15
            )
            for update in updates.names_for(loss):
                step = updates.by_name(update).step
                for u in (0.0, 1e-9, 0.3, 1e5):
                    compiled = call(jit.step_pointer(loss, step), p, y, u)
                    assert compiled == pytest.approx(step(loss, p, y, u), rel=1e-13, abs=1e-300)


@dataclass(frozen=True)
class Asymmetric(Loss):
    """A user's loss: two parameters, a helper method of its own, no closed form."""

    below: float = 3.0
    above: float = 1.0

    def slope(self, gap: float) -> float:
        return self.above if gap > 0.0 else self.below

    def value(self, p: float, y: float) -> float:
        return 0.5 * self.slope(p - y) * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return self.slope(p - y) * (p - y)


class ClassAttribute(Loss):
    """A user's loss that is not a dataclass."""

    factor = 2

    def value(self, p: float, y: float) -> float:
        return self.factor * abs(p - y)

    def derivative(self, p: float, y: float) -> float:
        return self.factor * ((p > y) - (p < y))


@pytest.mark.parametrize("loss", [Asymmetric(), Asymmetric(below=0.5, above=7.0), ClassAttribute()], ids=repr)
def test_a_users_loss_is_compiled(loss: Loss) -> None:
    for update in updates.names():
        step = updates.by_name(update).step
        for p in (-2.0, 0.25, 3.0):
            expected = step(loss, p, 0.5, 0.7)
            assert call(jit.step_pointer(loss, step), p, 0.5, 0.7) == pytest.approx(expected, rel=1e-12)


class Attribute(Loss):
    """A user's loss that sets an attribute: two of them compare equal, and must not be mixed up."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def value(self, p: float, y: float) -> float:
        return 0.5 * self.factor * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return self.factor * (p - y)


def test_losses_that_compare_equal_are_told_apart() -> None:
    for factor in (1.0, 3.0):
        assert call(jit.pointer(Attribute(factor), "derivative"), 1.0, 0.0) == factor


TABLE = np.array([2.0, 3.0])


class ByTable(Loss):
    """A user's loss that looks into an array: it has no fingerprint, as that may change."""

    def value(self, p: float, y: float) -> float:
        return float(TABLE[1]) * p


def test_a_loss_that_cannot_be_kept_is_compiled_all_the_same() -> None:
    assert call(jit.pointer(ByTable(), "value"), 2.0, 0.0) == 6.0


class Ratio(Loss):
    def value(self, p: float, y: float) -> float:
        return y / p


@pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python raises")
def test_division_by_zero_is_infinite() -> None:
    assert call(jit.pointer(Ratio(), "value"), 0.0, 1.0) == math.inf


def test_soft_labels_are_compiled() -> None:
    loss = losses.by_name("logarithmic")
    step = updates.by_name("invariant").step
    expected = loss.flow(0.2, 0.6, 0.1)
    assert call(jit.step_pointer(loss, step), 0.2, 0.6, 0.1) == pytest.approx(expected, rel=1e-12)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_compiling_that_takes_long_is_announced_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = []
    for stream, module, patience in (
        (io.StringIO(), "steelyard.learn.linear", 0.0),
        (Terminal(), "somebody.else", 0.0),
        (Terminal(), "steelyard.learn.linear", 0.0),
        (Terminal(), "steelyard.learn.linear", 60.0),
    ):
        monkeypatch.setattr("sys.stderr", stream)
        announcement = jit.Announcement(patience)
        announcement.begin(module, "learn")
        timer = announcement._timer
        if timer is not None and patience == 0.0:
            timer.join()
        announcement.begin("steelyard.learn.linear", "helper")  # is compiled in between
        announcement.end()
        announcement.end()
        outputs.append(stream.getvalue())
    assert outputs == ["", "", "steelyard: compiling learn.linear.learn, once per machine\n", ""]


SCRIPT = """
import numpy as np
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings
learner = Learner(Settings(scaling="plain", learning_rate=0.5, bias=False), 1)
learner.learn(examples(np.ones((1, 1)), [1.0]))
print(learner.predict(examples(np.ones((1, 1))))[0])
"""


def test_an_edited_loss_is_never_stale(tmp_path: Path) -> None:
    """Kernels and pointers come from the disk cache of the first process, unless they have changed."""
    shutil.copytree(
        Path(steelyard.__file__).parent, tmp_path / "steelyard", ignore=shutil.ignore_patterns("__pycache__")
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def predict() -> float:
        run = [sys.executable, "-c", SCRIPT]
        return float(subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout)

    assert predict() == predict() == pytest.approx(0.3934693, rel=1e-6)
    for file, old, new, expected in (
        ("losses/squared.py", "math.expm1(-u)", "math.expm1(-2.0 * u)", 0.6321206),
        ("updates.py", "loss.flow(p, y, u)", "0.5 * loss.flow(p, y, u)", 0.3160603),
        ("schedules.py", "power_t, t) * h", "power_t, t) * 2.0 * h", 0.4323324),
    ):
        source = tmp_path / "steelyard" / file
        text = source.read_text()
        assert old in text
        source.write_text(text.replace(old, new))
        assert predict() == pytest.approx(expected, rel=1e-6), file


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_what_stands_apart_is_not_copied_into_its_callers() -> None:
    @njit
    def called(x):  # type: ignore[no-untyped-def]
        jit.apart()
        return x + 1

    @njit
    def caller(x):  # type: ignore[no-untyped-def]
        return called(x)

    assert caller(2) == 3
    (code,) = caller.inspect_llvm().values()
    assert "noinline" in code


@pytest.mark.skipif(not config.DISABLE_JIT, reason="it is compiled")
def test_without_a_compiler_a_borrowed_array_is_the_array() -> None:
    array = np.zeros(1)
    assert jit.borrow(array) is array


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_a_borrowed_array_is_the_same_memory_without_a_reference_count(shape: tuple[int, ...]) -> None:
    @njit
    def called(array, times):  # type: ignore[no-untyped-def]
        jit.apart()
        for k in range(times):
            array.flat[k] += 1.0
        return len(array)

    @njit
    def caller(array, times):  # type: ignore[no-untyped-def]
        view = jit.borrow(array)
        return called(view, times) + view.shape[0]

    array = np.zeros(shape)
    before = sys.getrefcount(array)
    assert caller(array, 2) == 6
    assert sys.getrefcount(array) == before
    assert array.ravel().tolist() == [1.0, 1.0] + [0.0] * (array.size - 2)
