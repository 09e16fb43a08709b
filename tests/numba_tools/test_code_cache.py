"""Machine code on disk is found again and checked, and fingerprints change with whatever matters."""

import ctypes
import math
import os
import subprocess
import sys
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from steelyard import losses, schedules, updates
from steelyard.numba_tools import code_cache
from steelyard.numba_tools.code_cache import fingerprint

TWO = numba.float64(numba.float64, numba.float64)


def call(pointer: Any, *args: float) -> float:
    kind = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * len(args))
    return float(kind(pointer.address)(*args))


def plus() -> Any:
    return numba.cfunc(TWO)(lambda a, b: a + b)


def unexpected() -> Any:
    pytest.fail("it should have come from its file")


@pytest.fixture
def new_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Forgets all that is in memory; files lie in an empty folder."""

    def forget() -> None:
        monkeypatch.setattr(code_cache, "_loaded", {})
        monkeypatch.setattr(code_cache, "_engine", cache(code_cache._engine.__wrapped__))

    monkeypatch.setattr(code_cache, "_folder", lambda: tmp_path)
    forget()
    return forget


def test_compiled_once_then_found(new_process: Callable[[], None]) -> None:
    first = code_cache.load_or_compile("plus", TWO, plus)
    assert code_cache.load_or_compile("plus", TWO, unexpected) is first
    new_process()
    assert call(code_cache.load_or_compile("plus", TWO, unexpected), 1.0, 2.0) == 3.0


def test_kernels_take_it(new_process: Callable[[], None]) -> None:
    @numba.njit  # type: ignore[untyped-decorator]
    def through(function: Any, a: float, b: float) -> Any:
        return function(a, b)

    compiled = code_cache.load_or_compile("plus", TWO, plus)
    pointer = (lambda a, b: call(compiled, a, b)) if numba.config.DISABLE_JIT else compiled
    assert through(pointer, 1.0, 2.0) == 3.0


def test_another_key_or_signature_is_another_function(new_process: Callable[[], None]) -> None:
    three = numba.float64(numba.float64, numba.float64, numba.float64)
    pointers = [
        code_cache.load_or_compile("plus", TWO, plus),
        code_cache.load_or_compile("minus", TWO, lambda: numba.cfunc(TWO)(lambda a, b: a - b)),
    ]
    assert [call(pointer, 5.0, 3.0) for pointer in pointers] == [8.0, 2.0]
    last = code_cache.load_or_compile("plus", three, lambda: numba.cfunc(three)(lambda a, b, c: a + b + c))
    assert call(last, 1.0, 2.0, 3.0) == 6.0


@pytest.mark.parametrize("damage", [lambda code: b"", lambda code: code[:-1], lambda code: b"x" * len(code)])
def test_a_damaged_file_is_made_anew(
    new_process: Callable[[], None], tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    code_cache.load_or_compile("plus", TWO, plus)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    new_process()
    assert call(code_cache.load_or_compile("plus", TWO, plus), 1.0, 2.0) == 3.0
    new_process()
    assert call(code_cache.load_or_compile("plus", TWO, unexpected), 1.0, 2.0) == 3.0


def test_no_place_to_write_is_no_failure(new_process: Callable[[], None], tmp_path: Path) -> None:
    tmp_path.rmdir()
    assert call(code_cache.load_or_compile("plus", TWO, plus), 1.0, 2.0) == 3.0


def test_what_calls_into_this_process_is_not_kept(new_process: Callable[[], None], tmp_path: Path) -> None:
    def refuse(a: float, b: float) -> float:
        if a > b:
            raise ValueError("a is larger")
        return a

    compiled = code_cache.load_or_compile("refuse", TWO, lambda: numba.cfunc(TWO)(refuse))
    assert not isinstance(compiled, code_cache.Pointer)
    assert call(compiled, 1.0, 2.0) == 1.0
    assert list(tmp_path.iterdir()) == []


def test_the_oldest_files_go(
    new_process: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_cache, "_MOST_FILES", 2)
    for age, key in enumerate("abc"):
        code_cache.load_or_compile(key, TWO, plus)
        for file in tmp_path.iterdir():
            os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 10 * (3 - age)))
    new_process()
    assert len(list(tmp_path.iterdir())) == 2
    for key in "bc":
        code_cache.load_or_compile(key, TWO, unexpected)


SCRIPT = """
import ctypes, sys
from steelyard import losses
from steelyard.numba_tools import code_cache, jit
if "found" in sys.argv:
    code_cache._object_code = None
for name in sys.argv[1].split():
    address = jit.pointer(losses.by_name("squared"), name).address
    print(ctypes.CFUNCTYPE(*[ctypes.c_double] * 3)(address)(4.0, 1.0))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_functions_of_several_processes_are_told_apart(tmp_path: Path) -> None:
    """Numba gives the first function of each process the same name."""

    def run(*arguments: str) -> list[str]:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", SCRIPT, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert run("value") == ["4.5"]
    assert run("derivative") == ["3.0"]
    assert run("value derivative", "found") == ["4.5", "3.0"]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_pointer_may_be_the_first_thing_a_process_calls_a_kernel_with(tmp_path: Path) -> None:
    """Numba learns of addresses late, with the first kernel that it loads."""
    script = (
        "import numba; from steelyard import losses; from steelyard.numba_tools import jit; "
        "numba.typeof(jit.pointer(losses.by_name('squared'), 'value'))"
    )
    for _ in range(2):  # compiled, then from disk
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", script], check=True, env=environment)


PLAIN_SOURCE = """
def helper(x):
    return math.exp(x) + SHIFT

def value(self, p, y):
    return self.slope(p) * helper(y) + TABLE[0] + other.helper(p) + log(p)
"""


def module(source: str) -> types.ModuleType:
    made = types.ModuleType("made")
    exec(source, vars(made))
    return made


def value(source: str = PLAIN_SOURCE, **changed: Any) -> Any:
    other = module("def helper(x):\n    return 3.0 * x")
    scope = {"math": math, "log": math.log, "other": other, "SHIFT": 1.0, "TABLE": (1.0, 2.0), **changed}
    exec(source, scope)
    return scope["value"]


class Bound:
    factor = 2

    def slope(self, p: float) -> float:
        return self.factor * p


class OtherMethod(Bound):
    def slope(self, p: float) -> float:
        return 3.0 * p


class OtherNumber(Bound):
    factor = 4


def test_the_same_code_has_the_same_fingerprint() -> None:
    moved = "# further down, with a word\n\n" + PLAIN_SOURCE
    assert fingerprint(value(), Bound()) == fingerprint(value(moved), Bound())
    assert fingerprint(value(unused=5.0), Bound()) == fingerprint(value(), Bound())


@pytest.mark.parametrize(
    ("function", "thing"),
    [
        (value(PLAIN_SOURCE.replace("p) *", "p) +")), Bound()),  # an operation
        (value(PLAIN_SOURCE.replace("TABLE[0]", "TABLE[1]")), Bound()),  # a constant
        (value(PLAIN_SOURCE.replace("exp", "expm1")), Bound()),  # in a function that is called
        (value(SHIFT=2.0), Bound()),  # a global of that
        (value(SHIFT=1), Bound()),  # its type
        (value(TABLE=(1.0, 3.0)), Bound()),
        (value(log=math.log1p), Bound()),
        (value(other=module("def helper(x):\n    return 4.0 * x")), Bound()),
        (value(), OtherMethod()),
        (value(), OtherNumber()),
    ],
)
def test_whatever_decides_the_code_shows(function: Callable[..., float], thing: Any) -> None:
    found = fingerprint(function, thing)
    assert found is not None
    assert found != fingerprint(value(), Bound())


def closure() -> Callable[..., float]:
    hidden = 1.0

    def value(self: Any, p: float, y: float) -> float:
        return hidden

    return value


@pytest.mark.parametrize(
    "function",
    [value(TABLE=np.ones(2)), value(TABLE=[1.0]), value(log=len), value(SHIFT=np.float64(1.0)), closure()],
)
def test_what_may_change_unseen_has_none(function: Callable[..., float]) -> None:
    assert fingerprint(function, Bound()) is None


@pytest.mark.parametrize("name", losses.names())
def test_every_loss_has_one_for_each_of_its_pointers(name: str) -> None:
    loss = losses.by_name(name)
    functions: list[Callable[..., float]] = [type(loss).value, type(loss).derivative]
    functions += [updates.by_name(update).step for update in updates.names_for(loss)]
    found = {fingerprint(function, loss) for function in functions}
    assert None not in found
    assert len(found) == len(functions)


def test_parameters_show() -> None:
    def of(rate: float) -> str | None:
        return fingerprint(schedules.PowerDecay.frozen, schedules.PowerDecay(learning_rate=rate))

    assert of(0.5) == of(0.5)
    assert of(0.5) != of(0.25)
