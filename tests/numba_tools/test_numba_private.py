"""Canaries: each part of Numba's private interface that steelyard uses is still there and works.

A failure names the part, the function in `numba_private` that uses it, and the versions it was tried with.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import config, njit, types
from numba.extending import intrinsic

from steelyard.learn.vectors import LANES, load, plus_product, store, zeros
from steelyard.numba_tools import code_cache, jit, numba_private

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

TWO = numba.float64(numba.float64, numba.float64)


@contextmanager
def canary(function: str, relies_on: str) -> Iterator[None]:
    """Say what broke, where it is used, and with which versions."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  (whatever it is, it is reported)
        pytest.fail(
            f"{numba_private.versions()}: numba_private.{function} no longer works. "
            f"It relies on {relies_on}. The error was {type(error).__name__}: {error}",
            pytrace=False,
        )


def check(truth: bool, otherwise: str) -> None:
    if not truth:
        raise RuntimeError(otherwise)


def cached(folder: Path, stamp: bytes) -> Any:
    """A function of a new module, with its cache in `folder` stamped."""
    source = folder / "cached_module.py"
    source.write_text("def double(x):\n    return 2 * x\n")
    scope: dict[str, Any] = {"__name__": "cached_module", "__file__": str(source)}
    exec(compile(source.read_text(), str(source), "exec"), scope)
    function = njit(cache=True)(scope["double"])
    numba_private.stamp_cache(function, stamp)
    return function


def test_stamp_cache(tmp_path: Path) -> None:
    with canary("stamp_cache", "dispatcher._cache._cache_file._source_stamp"):
        for stamp, hits in ((b"one", 0), (b"one", 1), (b"two", 0)):
            function = cached(tmp_path, stamp)
            check(function(3) == 6, "the function computes something else")
            found = sum(function.stats.cache_hits.values())
            check(found == hits, f"with the stamp {stamp!r} the cache had {found} hits instead of {hits}")


def test_cache_folder(tmp_path: Path) -> None:
    with canary("cache_folder", "dispatcher.stats.cache_path"):
        function = cached(tmp_path, b"")
        function(3)
        folder = numba_private.cache_folder(function.py_func)
        check(any(folder.glob("cached_module*.nbi")), f"Numba did not write its cache to {folder}")


def test_on_compile() -> None:
    begun: list[tuple[str, str]] = []
    ended: list[bool] = []

    def function(x: int) -> int:
        return x

    function.__module__ = "compiled.module"
    with canary("on_compile", 'the event "numba:compile", whose data has the dispatcher'):
        numba_private.on_compile(lambda *what: begun.append(what), lambda: ended.append(True))
        njit(function)(1)
        check(("compiled.module", "function") in begun, f"no event for the function, only for {begun}")
        check(len(ended) == len(begun), "not every compilation has ended")


def test_llvm_code() -> None:
    with canary("llvm_code", "cfunc.inspect_llvm() with the attribute noinline, and cfunc.native_name"):
        compiled = numba.cfunc(TWO)(lambda a, b: a + b)
        check("noinline" in compiled.inspect_llvm(), "the function is not marked noinline any more")
        code, entry = numba_private.llvm_code(compiled)
        check(f"@{entry}(" in code, f"there is no function {entry} in the code")
        check(bool(code_cache._object_code(compiled, "plus")), "the function calls into Numba's runtime")


def test_pointers() -> None:
    with canary("(import of function_type)", "numba.experimental.function_type, __wrapper_address__"):

        @njit
        def through(function, a, b):  # type: ignore[no-untyped-def]
            return function(a, b)

        compiled = numba.cfunc(TWO)(lambda a, b: a - b)
        check(through(code_cache.Pointer(compiled.address, TWO), 5.0, 3.0) == 2.0, "a pointer calls another")


def test_never_inline() -> None:
    with canary("never_inline", "builder.function within an intrinsic"):

        @njit
        def called(x):  # type: ignore[no-untyped-def]
            numba_private.never_inline()
            return x + 1

        @njit
        def caller(x):  # type: ignore[no-untyped-def]
            return called(x)

        check(caller(2) == 3, "the function computes something else")
        (code,) = caller.inspect_llvm().values()
        check("noinline" in code, "the function is not marked noinline")


def test_uncounted() -> None:
    with canary("uncounted", "the members meminfo and parent of an array within an intrinsic"):

        @njit
        def write(array):  # type: ignore[no-untyped-def]
            view = numba_private.uncounted(array)
            view[0] = 7.0
            return view.shape[0]

        array = np.zeros(3)
        before = sys.getrefcount(array)
        check(write(array) == 3 and array[0] == 7.0, "the array without an owner is another")
        check(sys.getrefcount(array) == before, "references are counted")


def test_array_struct() -> None:
    @intrinsic
    def first(context, array):  # type: ignore[no-untyped-def]
        def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            struct = numba_private.array_struct(context, builder, signature.args[0], arguments[0])
            return builder.load(struct.data)

        return types.float64(array), build

    with canary("array_struct", "context.make_array"):
        check(njit(lambda array: first(array))(np.array([5.0, 6.0])) == 5.0, "it is not the first number")


def test_vectors() -> None:
    with canary("undefined, zero and nothing", "context.get_constant_undef, get_value_type, get_dummy_value"):

        @njit
        def add(numbers, out):  # type: ignore[no-untyped-def]
            total = zeros(numbers, 1)  # type: ignore[no-untyped-call]
            some = load(numbers, np.uint64(0), 1)  # type: ignore[no-untyped-call]
            store(out, np.uint64(0), plus_product(total, some, 2.0))  # type: ignore[no-untyped-call]

        numbers, out = np.arange(LANES, dtype=np.float64), np.ones(LANES)
        add(numbers, out)
        check(bool((out == 2.0 * numbers).all()), "vectors compute something else")


def test_linked_compiler() -> None:
    relies_on = "JITCodeLibrary, NativeLowering and its result, njit(pipeline_class=, forceinline=)"
    with canary("LinkedCompiler", relies_on):

        @jit.part
        def square(x):  # type: ignore[no-untyped-def]
            return x * x

        @jit.helper
        def fourth_power(x):  # type: ignore[no-untyped-def]
            return square(square(x))

        @njit
        def caller(x):  # type: ignore[no-untyped-def]
            return square(x) + fourth_power(x)

        check(caller(3.0) == 90.0, "the functions compute something else")
        (code,) = square.inspect_llvm().values()
        check("alwaysinline" in code, "a part is not marked to be inlined")
        for function in (square, fourth_power):
            try:
                function(3.0)
            except TypeError:
                continue
            raise RuntimeError(f"Python can call {function}")


BROKEN: dict[str, Callable[[], object]] = {
    "stamp_cache": lambda: numba_private.stamp_cache(object(), b""),
    "llvm_code": lambda: numba_private.llvm_code(object()),
    "array_struct": lambda: numba_private.array_struct(object(), None, None, None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_canary_names_what_broke(name: str) -> None:
    message = rf"numba {numba.__version__}, .*numba_private\.{name} no longer works"
    with pytest.raises(pytest.fail.Exception, match=message), canary(name, "something"):
        BROKEN[name]()


def test_a_wrong_result_counts_as_broken() -> None:
    expected = pytest.raises(pytest.fail.Exception, match="The error was RuntimeError: it is 3")
    with expected, canary("anything", "something"):
        check(False, "it is 3")


def test_scipy_is_imported_by_functions_that_need_it_only() -> None:
    program = """
import sys
import numpy as np
from numba import njit
from steelyard.numba_tools import jit
njit(lambda x: x + 1.0)(1.0)
assert "scipy.linalg" not in sys.modules
assert njit(lambda a: np.dot(a, a))(np.ones(3)) == 3.0
assert "scipy.linalg" in sys.modules
"""
    with canary("defer_blas", "numba.np.linalg.ensure_blas, called when numba.np.arraymath is imported"):
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
