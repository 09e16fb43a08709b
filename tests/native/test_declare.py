"""Kernels compute, compiled, what their source says in Python."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.native import declare
from steelyard.native.calls import CODES
from steelyard.native.declare import CHECKED, PLAIN, Kernel, apart, helper, kernel, outside, part
from steelyard.native.kinds import Number
from steelyard.native.methods import pointer
from steelyard.text import swar
from tests.support.parts import call_method, callable_part

compiled = pytest.mark.skipif(PLAIN, reason="nothing is compiled")
INTEGERS = [kind for kind in CODES if kind.kind in "iu"]
REALS = [kind for kind in CODES if kind.kind == "f"]


@kernel
def second_of_each(arrays: Any) -> Any:
    a, b, c, d, e, f, g, h = arrays
    return a[1], b[1], c[1], d[1], e[1], f[1], g[1], h[1]


@kernel
def the_others(truths: Any, reals: Any, pairs: Any) -> Any:
    return truths[1], reals[0][1], reals[1][1], pairs[0][1].real, pairs[0][1].imag, pairs[1][1].imag


@kernel
def numbers(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    return h, g, f, e, d, c, b, a


@kernel
def tell(truth: Any, small: Any, large: Any) -> Any:
    return not truth, small, large


def extremes(kind: np.dtype[Any]) -> Any:
    return np.array([np.iinfo(kind).max, np.iinfo(kind).min], kind)


def test_arrays_of_every_kind_of_whole_number() -> None:
    arrays = tuple(extremes(kind) for kind in INTEGERS)
    assert second_of_each(arrays) == tuple(np.iinfo(kind).min for kind in INTEGERS)
    assert second_of_each(tuple(array[::-1].copy() for array in arrays)) == tuple(
        np.iinfo(kind).max for kind in INTEGERS
    )


def test_arrays_of_the_other_kinds() -> None:
    truths, reals = np.array([False, True]), tuple(np.array([0.0, 0.1], kind) for kind in REALS)
    pairs = np.array([0, 1 - 2j], np.complex64), np.array([0, 3 - 0.1j])
    expected = (True, float(np.float32(0.1)), 0.1, 1.0, -2.0, -0.1)
    assert the_others(truths, reals, pairs) == expected
    assert not the_others(~truths, reals, pairs)[0]


def test_numbers_of_every_kind() -> None:
    least = tuple(kind.type(np.iinfo(kind).min) for kind in INTEGERS)
    most = tuple(kind.type(np.iinfo(kind).max) for kind in INTEGERS)
    assert numbers(*least) == least[::-1]
    assert numbers(*most) == most[::-1]


@pytest.mark.parametrize("truth", [True, False, np.True_, np.False_], ids=repr)
def test_truths_and_reals(truth: Any) -> None:
    assert tell(truth, np.float32(0.1), np.float64(0.1)) == (not truth, float(np.float32(0.1)), 0.1)
    assert tell(truth, np.float32("nan"), -np.inf)[2] == -np.inf


@compiled
def test_results_are_numbers_of_python() -> None:
    assert [type(each) for each in tell(True, np.float32(1), 1.0)] == [bool, float, float]
    assert [type(each) for each in numbers(*(kind.type(1) for kind in INTEGERS))] == [int] * 8


@kernel
def total(array: Any) -> Any:
    found = 0.0
    for item in array.flat:
        found += item
    return found


@kernel
def weighted(line: Any, matrix: Any, cube: Any) -> Any:
    found = 0.0
    for i in range(line.shape[0]):
        found += line[i]
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            found += matrix[i, j] * (i + 1) * 10**j
    for i in range(cube.shape[0]):
        for j in range(cube.shape[1]):
            for k in range(cube.shape[2]):
                found += cube[i, j, k] * (i + 2) * (j + 3) * (k + 4)
    return found


@kernel
def corner(block: Any) -> Any:
    return block[1, 0, 2, 1]


def test_four_dimensions() -> None:
    block = np.arange(120.0).reshape(2, 3, 4, 5)
    assert corner(block) == block[1, 0, 2, 1]
    assert corner(block[:, ::2, ::-1, 1:]) == block[1, 0, 1, 2]


def shapes() -> list[tuple[Any, Any, Any]]:
    line, matrix, cube = np.arange(7.0), np.arange(24.0).reshape(4, 6), np.arange(60.0).reshape(3, 4, 5)
    return [
        (line, matrix, cube),
        (line[::2], matrix[:, ::2], cube[:, ::2]),
        (line[::-3], matrix.T[::-1], cube.transpose(2, 0, 1)[::2, :, ::-1]),
        (line[:0], matrix[:0], cube[:, :0]),
        (line[::2][:0], matrix[::2, 1:][:, :0], cube[::2, ::2, :0]),
        (matrix[0], cube[1], cube[1:]),
        (matrix[:, 0], cube[:, 1], cube[..., 1:]),
        (np.broadcast_to(2.0, 3), np.broadcast_to(line, (2, 7)), cube),
    ]


@pytest.mark.parametrize("arrays", shapes(), ids=lambda arrays: "")
def test_dimensions_with_gaps_and_without_anything(arrays: Any) -> None:
    plain = weighted.function if isinstance(weighted, Kernel) else weighted
    assert weighted(*arrays) == plain(*arrays)


def test_memory_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    np.arange(5.0).tofile(tmp_path / "numbers")
    mapped = np.memmap(tmp_path / "numbers", np.float64, "r")
    frozen = np.arange(5.0)
    frozen.flags.writeable = False
    assert total(mapped) == total(frozen) == total(frozen[::-1]) == 10.0


@kernel
def fill(array: Any, gaps: Any) -> Any:
    for k in range(array.shape[0]):
        array[k] = k
        gaps[k] = -k


def test_kernels_write_into_the_callers_memory() -> None:
    array, matrix = np.zeros(3, np.float32), np.zeros((3, 2), np.int16)
    assert fill(array, matrix[:, 1]) is None
    assert array.tolist() == [0.0, 1.0, 2.0]
    assert matrix.tolist() == [[0, 0], [0, -1], [0, -2]]


@kernel
def nested(loss: Any, everything: Any) -> Any:
    (value, derivative), (p, (y, array), _) = everything
    array[0] = value(p, y)
    return derivative(p, y), loss(p, y), array.size


def test_functions_and_tuples_in_tuples() -> None:
    squared = losses.by_name("squared")
    value, derivative = (pointer(squared, name) for name in ("value", "derivative"))
    array = np.zeros(2)
    assert nested(value, ((value, derivative), (3.0, (1.0, array), ()))) == (2.0, 2.0, 2)
    assert array[0] == 2.0
    quantile = losses.by_name("quantile", tau=0.75)
    assert nested(pointer(quantile, "value"), ((value, derivative), (0.0, (1.0, array), ())))[1] == 0.75


@part  # type: ignore[untyped-decorator]
def twice(x: Any) -> Any:
    return 2 * x


@helper  # type: ignore[untyped-decorator]
def thrice(x: Any) -> Any:
    apart()
    return 3 * x


def plain_square(x: float) -> float:
    return x * x


square: Any = outside(plain_square)


@kernel
def inner(x: Any) -> Any:
    return thrice(twice(x)) + square(x)


@kernel
def calls_others(array: Any) -> Any:
    view = array
    view[0] = inner(view[0])
    return inner(view[0])


def test_kernels_parts_helpers_and_functions_from_outside_call_each_other() -> None:
    array = np.array([1.0])
    assert calls_others(array) == 6.0 * 7.0 + 49.0
    assert array[0] == 7.0


@compiled
def test_parts_are_only_for_kernels() -> None:
    for each in (twice, thrice):
        assert not callable(each)
        with pytest.raises(TypeError):
            each.dispatcher(1.0)


@compiled
def test_what_stands_apart_is_not_copied_into_its_callers() -> None:
    llvm = declare.KernelEntry(calls_others, "f8[]").llvm("apart")
    assert "noinline" in llvm
    assert "alwaysinline" in llvm  # as `twice` is


@kernel
def too_many(x: Any) -> Any:
    return x, x, x, x, x, x, x, x, x


@kernel
def an_array(array: Any) -> Any:
    return array


@kernel
def a_complex_number(array: Any) -> Any:
    return array[0]


@compiled
@pytest.mark.parametrize(
    ("wrong", "argument"), [(too_many, 1.0), (an_array, np.zeros(1)), (a_complex_number, np.zeros(1, "c16"))]
)
def test_what_a_kernel_may_not_return(wrong: Any, argument: Any) -> None:
    with pytest.raises(TypeError, match="cannot be compiled: kernels return up to 8 numbers"):
        wrong(argument)


@compiled
def test_wrong_arguments_say_so() -> None:
    with pytest.raises(TypeError, match="got <class 'str'>"):
        total("text")
    with pytest.raises(TypeError, match="got 0 dimensions of float64"):
        total(np.array(1.0))


@compiled
def test_a_kernel_is_known_by_the_name_and_the_words_of_its_function() -> None:
    def documented(x: Number) -> Any:
        """Says something."""
        return x

    made = kernel(documented)
    assert (made.__name__, made.__doc__, made.declared) == ("documented", "Says something.", True)
    assert made.name == "tests.native.test_declare.documented"
    entry = declare.KernelEntry(made, "f8")
    assert (entry.title, entry.ships) == (made.name, True)
    documented.__annotations__.clear()
    assert not declare.KernelEntry(kernel(documented), "f8").ships


@compiled
@pytest.mark.skipif(CHECKED, reason="it says so where bounds are checked")
def test_a_kernel_is_named_by_its_types() -> None:
    assert declare.KernelEntry(total, "f8[]").name == "tests.native.test_declare.total f8[]"


@compiled
def test_a_kernel_made_by_a_function_is_not_kept() -> None:
    """What it closes over may change."""
    factor = 3.0
    scaled = kernel(lambda x: factor * x)
    assert declare.KernelEntry(scaled, "f8").made_from is None
    assert scaled(2.0) == 6.0
    _, checked, _ = swar.FORMS["bars"]  # which has the name of all its siblings
    one: Any = callable_part(checked)
    assert declare.KernelEntry(one, "u1[] i8").made_from is None


SWITCHED_OFF = """
import sys
import numpy as np
from steelyard.learn import rows
from steelyard.native import declare
assert declare.PLAIN and not declare.CHECKED
assert declare.apart() is None
array = np.zeros(1)
assert declare.kernel(len) is declare.part(len) is len
assert not {"numba", "llvmlite"} & set(sys.modules)
"""

CHECKING = """
import numpy as np
from steelyard.native.declare import CHECKED, kernel

@kernel
def beyond(array, k):
    return array[k]

assert CHECKED
print(beyond(np.ones(3), 2))
try:
    beyond(np.ones(3), 3)
except IndexError as error:
    print(error)
"""


def run(script: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_compiler_functions_stay_as_they_are() -> None:
    run(SWITCHED_OFF, NUMBA_DISABLE_JIT="1")


@pytest.mark.parametrize("variable", ["", "0"])
def test_an_empty_switch_switches_nothing(variable: str) -> None:
    script = "from steelyard.native import declare; print(declare.PLAIN, declare.CHECKED)"
    assert run(script, NUMBA_DISABLE_JIT=variable, NUMBA_BOUNDSCHECK=variable) == "False False\n"


def test_bounds_are_checked_on_request() -> None:
    expected = "1.0\na kernel used an index beyond an array\n"
    assert run(CHECKING, NUMBA_BOUNDSCHECK="1", NUMBA_DISABLE_JIT="0") == expected


def test_plain_kernels_pass_these_tests() -> None:
    """`make test-plain` runs them too; here, if nobody else does, the same results are asked of both."""
    if PLAIN:
        return
    here: list[Callable[..., Any]] = [second_of_each, numbers]
    arrays = tuple(extremes(kind) for kind in INTEGERS)
    assert here[0](arrays) == here[0].function(arrays)  # type: ignore[attr-defined]


def test_a_method_is_called_as_a_kernel_would() -> None:
    assert call_method(pointer(losses.by_name("squared"), "value"), 3.0, 1.0) == 2.0


@compiled
def test_what_a_kernel_does_not_declare_is_refused() -> None:
    @kernel
    def twice(x: Number) -> Any:
        return 2.0 * x

    with pytest.raises(TypeError, match=r"twice takes none of these types: f4\[\]"):
        twice(np.zeros(1, np.float32))
