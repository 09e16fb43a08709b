"""All that steelyard uses of Numba beyond its public interface, one function for each part.

Numba may change these parts in any release. So pyproject.toml admits no release of Numba that has not been
tried, and tests/numba_tools/test_numba_private.py checks each part on its own and names the one that broke.
"""

import ctypes
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import _dynfunc, types
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# Importing it registers how objects with a `__wrapper_address__` are passed to kernels.
from numba.experimental import function_type  # noqa: F401
from numba.extending import intrinsic
from numba.np import linalg


def versions() -> str:
    """The versions that these functions depend on."""
    return f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"


def defer_blas() -> None:
    """Let Numba import SciPy's linear algebra when a function needs it, not with the first kernel.

    Numba imports it to see whether there is one, which takes a tenth of the time of a short command. SciPy is
    a dependency of ours, so there is; a function that calls it still checks.
    """
    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check


def stamp_cache(dispatcher: Any, stamp: bytes) -> None:
    """Tie the cached machine code of a function to `stamp` instead of to the file with its source."""
    dispatcher._cache._cache_file._source_stamp = stamp


def cache_folder(function: Callable[..., Any]) -> Path:
    """The folder where Numba caches the functions of the file that defines this one."""
    return Path(numba.njit(cache=True)(function).stats.cache_path)


class _CompileListener(event.Listener):  # type: ignore[misc]
    def __init__(self, begin: Callable[[str, str], None], end: Callable[[], None]) -> None:
        self._begin, self._end = begin, end

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        self._begin(str(function.__module__), str(function.__name__))

    def on_end(self, event: Any) -> None:
        self._end()


def on_compile(begin: Callable[[str, str], None], end: Callable[[], None]) -> None:
    """Call back, with module and name, whenever the compilation of a function begins, and when it ends.

    Functions that it calls are compiled in between.
    """
    event.register("numba:compile", _CompileListener(begin, end))


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code that is there to be linked into that of kernels: it has no machine code."""

    def _optimize_final_module(self) -> None:
        """The kernel's code is optimised as a whole, this part of it included."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerForLinking(NativeLowering):  # type: ignore[misc]
    """Numba's own pass, without machine code and without the wrappers that Python and C would call."""

    _name = "lower_for_linking"

    def run_pass(self, state: Any) -> bool:
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        entry = _not_for_python(lowered.fndesc, lowered.env)
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=entry, env=lowered.env)
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.reload_init.extend(getattr(state.library, "_reload_init", ()))  # Numba 0.61 has none
        return True


def _not_for_python(described: Any, environment: Any) -> Any:
    """What Python would call, which raises a TypeError: it calls its closure, which nobody can."""
    address = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
    module, name = described.lookup_module(), described.qualname
    return _dynfunc.make_function(module, name, "only for kernels", address, environment, ())


class LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles a function that only kernels call: see `_LinkedLibrary`."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_LowerForLinking if each is NativeLowering else each, said) for each, said in passes.passes
        ]
        passes._finalized = False
        passes.finalize()
        return [passes]


def llvm_code(compiled: Any) -> tuple[str, str]:
    """The LLVM code of a `cfunc` and the name of its entry.

    Numba forbids inlining a function into the wrapper that handles its errors. Here it is inlined, and the
    optimiser sees that there are none.
    """
    return compiled.inspect_llvm().replace("noinline", "alwaysinline"), compiled.native_name


@intrinsic
def never_inline(context):
    """Called within a function: LLVM does not inline that function into its callers."""

    def build(context, builder, signature, arguments):
        builder.function.attributes.add("noinline")
        return nothing(context)

    return types.none(), build


@intrinsic
def uncounted(context, array):
    """The array without its owner, so that Numba has no references to count."""

    def build(context, builder, signature, arguments):
        view = array_struct(context, builder, signature.return_type, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), build


def array_struct(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    """An array within an intrinsic: its members are `data`, `meminfo`, `parent`."""
    return context.make_array(array_type)(context, builder, array)


def nothing(context: Any) -> Any:
    """What an intrinsic returns that returns nothing."""
    return context.get_dummy_value()


def undefined(context: Any, numba_type: Any) -> Any:
    """A value of this type, to be filled in by an intrinsic."""
    return context.get_constant_undef(numba_type)


def zero(context: Any, numba_type: Any) -> Any:
    """A value of this type with all bits 0."""
    return context.get_value_type(numba_type)(None)
