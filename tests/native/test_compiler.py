"""Machine code: for each level of processors the same bits every time, which need nothing from outside.

So these tests notice where Numba changes what `compiler` uses of it beyond its public interface.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses, schedules, updates
from steelyard.learn import batched_loss
from steelyard.native import processor
from steelyard.native.declare import CHECKED, PLAIN, KernelEntry, kernel, outside, part
from steelyard.native.lazy import compiler
from steelyard.native.memory import address_of
from steelyard.native.methods import pointer, step_pointer
from tests.native.processes import SOURCES, run

pytestmark = pytest.mark.skipif(PLAIN or CHECKED, reason="this code is not that of libraries")


@kernel
def dot(a: Any, b: Any) -> Any:
    found = 0.0
    for k in range(len(a)):
        found += a[k] * b[k]
    return found


@kernel
def uses_libm(a: Any) -> Any:
    return math.log1p(math.exp(a[0])), math.ldexp(a[0], 3), math.frexp(a[0])[0]


def made(entry: Any, level: str = "x86-64") -> bytes:
    return bytes(compiler.machine_code(entry.llvm("symbol"), "symbol", level))


def test_the_same_bits_when_compiled_twice() -> None:
    squared = losses.by_name("squared")
    step = updates.by_name("invariant").step
    lanes = batched_loss.steps(squared, step, "float32")
    for entry in (KernelEntry(dot, "f8[] f8[]"), pointer(squared, "value"), lanes):
        level = processor.level()
        assert made(entry, level) == made(entry, level)


BITS = """
import hashlib
from steelyard import losses
from steelyard.learn import batched_loss
from steelyard.native import compiler, processor
from steelyard.native.methods import pointer
loss = losses.by_name("logistic")
entries = [pointer(loss, "value"), batched_loss.slopes(loss, "float64")]
for entry in reversed(entries) if REVERSED else entries:
    for level in processor.all_levels():
        print(hashlib.sha256(compiler.machine_code(entry.llvm("symbol"), "symbol", level)).hexdigest())
"""


def test_the_same_bits_whatever_compiles_them() -> None:
    """Processes that build a library differ in their processor, the order of work and the seed of hashes."""
    plainest = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    found = [
        run(BITS.replace("REVERSED", str(last_first)), SOURCES, PYTHONHASHSEED=seed, **environment)[0].split()
        for last_first, seed, environment in ((False, "1", {}), (True, "2", plainest))
    ]
    half = len(processor.all_levels())
    assert found[0] == found[1][half:] + found[1][:half]
    assert len(found[0]) == 2 * half


@pytest.mark.skipif(not processor.is_x86(), reason="there is one level")
def test_levels_differ_and_each_keeps_to_its_registers() -> None:
    texts = {}
    for level in processor.all_levels():
        machine = compiler._machine(level)
        entry = KernelEntry(dot, "f8[] f8[]")
        texts[level] = machine.emit_assembly(compiler.optimised(entry.llvm("symbol"), "symbol", level))
    assert "ymm" not in texts["x86-64"]
    assert "ymm" in texts["x86-64-v3"]
    assert "zmm" not in texts["x86-64-v3"]


def called(module: Any) -> set[str]:
    return {
        each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")
    }


@pytest.mark.parametrize("name", losses.names())
def test_methods_call_nothing_but_mathematics(name: str) -> None:
    loss = losses.by_name(name)
    step = updates.by_name("invariant").step
    for entry in (pointer(loss, "value"), step_pointer(loss, step)):
        module = compiler.optimised(entry.llvm("symbol"), "symbol", processor.level())
        assert called(module) <= compiler.C_LIBRARY
        own = [each for each in module.functions if not each.is_declaration]
        assert [each.name for each in own if each.linkage.name == "external"] == ["symbol"]


def test_loops_over_lanes_call_nothing_at_all() -> None:
    step = updates.by_name("invariant").step
    for entry in (
        batched_loss.steps(losses.by_name("logistic"), step, "float64"),
        batched_loss.pushes(schedules.integral),
    ):
        assert called(compiler.optimised(entry.llvm("symbol"), "symbol", processor.level())) == set()


def test_mathematics_is_that_of_the_c_library() -> None:
    module = compiler.optimised(KernelEntry(uses_libm, "f8[]").llvm("symbol"), "symbol", processor.level())
    assert {"exp", "log1p", "ldexp", "frexp"} >= called(module)
    assert uses_libm(np.array([0.75])) == pytest.approx((math.log1p(math.exp(0.75)), 6.0, 0.75))


def test_code_that_calls_anything_else_is_refused() -> None:
    text = """
declare void @PyErr_Clear()
define i32 @symbol(i64 %block) {
  call void @PyErr_Clear()
  ret i32 0
}
"""
    with pytest.raises(RuntimeError, match=r"^symbol calls PyErr_Clear$"):
        compiler.machine_code(text, "symbol", processor.level())


@kernel
def allocates(n: Any) -> Any:
    return np.zeros(n)[0]


def test_a_kernel_that_allocates_is_refused() -> None:
    with pytest.raises(TypeError, match=r"allocates cannot be compiled: .*zeros"):
        allocates(3)


def test_parts_are_functions_for_numba() -> None:
    """What its compiler asks of them, while nobody looks."""
    from numba import types

    quarter = part(lambda x: 0.25 * x)
    assert isinstance(quarter._numba_type_, types.Dispatcher)
    assert quarter._numba_type_ == quarter.dispatcher._numba_type_
    assert isinstance(outside(_plain).dispatcher._numba_type_, types.Dispatcher)
    assert isinstance(address_of._numba_type_, types.Function)
    assert compiler.NOTHING() == types.none()


def _plain(x: float) -> float:
    return x + 1.0


def test_code_does_not_depend_on_where_its_source_lies() -> None:
    text = KernelEntry(dot, "f8[] f8[]").llvm("symbol")
    optimised = str(compiler.optimised(text, "symbol", processor.level()))
    assert str(Path(__file__).parent) not in optimised
