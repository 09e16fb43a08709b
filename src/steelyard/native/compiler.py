"""Numba and LLVM: from a function in Python to machine code in an object file.

Nothing that runs a model imports this module: only code that builds a library, or compiles what no library has.
With `argument_blocks` and `method_compiler` it holds all uses of Numba beyond its public interface.

A kernel's entry takes the address of a block (see `calls`), unpacks it and calls the kernel. Everything is
compiled without Numba's runtime, so that machine code calls nothing but the C library's mathematics.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding as llvm
from numba import _dynfunc, njit, types
from numba.core import errors
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic, overload

from steelyard.native import declare
from steelyard.native.argument_blocks import result_writer, signature_of, types_of, unpacker
from steelyard.native.calls import words_of

# The errors of functions that cannot become machine code
ERRORS = (errors.NumbaError, RuntimeError, TypeError, NotImplementedError)


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code that is only linked into that of entries: it has no machine code."""

    def _optimize_final_module(self) -> None:
        """Do nothing: an entry is optimised as a whole, with this part of it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerForLinking(NativeLowering):  # type: ignore[misc]
    """Numba's pass that lowers to LLVM, without machine code and without the wrappers for Python and C."""

    _name = "lower_for_linking"

    def run_pass(self, state: Any) -> bool:
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        entry = _not_for_python(lowered.fndesc, lowered.env)
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=entry, env=lowered.env)
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.reload_init.extend(getattr(state.library, "_reload_init", ()))
        return True


def _not_for_python(described: Any, environment: Any) -> Any:
    """Return the function that Python would call: it raises a TypeError, as it calls its closure, a tuple."""
    address = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
    module, name = described.lookup_module(), described.qualname
    return _dynfunc.make_function(module, name, "only for kernels", address, environment, ())


class _LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles a function that only kernels call: see `_LinkedLibrary`."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_LowerForLinking if each is NativeLowering else each, why) for each, why in passes.passes
        ]
        passes._finalized = False
        passes.finalize()
        return [passes]


def linked(function: Callable[..., Any], inline: bool, fastmath: frozenset[str]) -> Any:
    """Return the function as other compiled functions call it."""
    return njit(
        nogil=True, error_model="numpy", fastmath=set(fastmath) or False, forceinline=inline, _nrt=False,
        boundscheck=declare.CHECKED, pipeline_class=_LinkedCompiler,
    )(function)  # fmt: skip


def short(function: Callable[..., Any]) -> Any:
    """Return a function of a few lines, inlined before types are known, which saves most of the compile time."""
    return njit(nogil=True, error_model="numpy", inline="always", _nrt=False)(function)


def dispatcher(part: Any) -> Any:
    """Return Numba's form of a `declare.Part`."""
    _register_overloads()
    return linked(part.function, part.inline, part.fastmath)


def intrinsic_type(placeholder: Any) -> Any:
    """Return Numba's type of a `declare.Intrinsic`."""
    made = placeholder.made = intrinsic(prefer_literal=placeholder.prefer_literal)(placeholder.build)
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


def _register_overloads() -> None:
    while declare.OVERLOADS:
        function, implementation, options = declare.OVERLOADS.pop(0)
        overload(function, **options)(implementation)


def NOTHING() -> Any:  # noqa: N802
    """Return the signature of an intrinsic without arguments and without a result."""
    return types.none()


def kernel_llvm(kernel: Any, key: str, symbol: str) -> str:
    """Return the LLVM code of a kernel for these types, which exports int symbol(address of a block)."""
    kinds = key.split()
    unpack = unpacker(types_of(iter(kinds)))
    write_results = result_writer(sum(len(words_of(kind)) for kind in kinds))

    def entry(block: int) -> None:
        write_results(block, kernel(*unpack(block)))

    body, name = _code(linked(entry, False, declare.FAST_SUMS), (types.int64,))
    wrapper = f"""
define i32 @{symbol}(i64 %block) {{
  %result = alloca ptr
  %error = alloca ptr
  %status = call i32 @"{name}"(ptr %result, ptr %error, i64 %block)
  ret i32 %status
}}
"""
    return f"{body}{wrapper}"


def function_llvm(function: Any, code: str, symbol: str) -> str:
    """Return the LLVM code of a function that kernels call; it first takes the address of its parameters."""
    returned, *taken = signature_of(code)
    body, name = _code(function, (types.int64, *taken), returned)
    kinds = ["i64", *("double" if each == types.float64 else "i64" for each in taken)]
    given = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(kinds))
    nothing = returned == types.none
    wrapper = f"""
define {"void" if nothing else "double"} @{symbol}({given}) {{
  %result = alloca {"ptr" if nothing else "double"}
  %error = alloca ptr
  %status = call i32 @"{name}"(ptr %result, ptr %error, {given})
  {"ret void" if nothing else "%value = load double, ptr %result"}
  {"" if nothing else "ret double %value"}
}}
"""
    return f"{body}{wrapper}"


@global_compiler_lock
def _code(entry: Any, arguments: tuple[Any, ...], returned: Any = types.none) -> tuple[str, str]:
    """Return the LLVM code of an entry with all that it calls, and its name there."""
    _register_overloads()
    entry.compile(arguments)
    compiled = entry.overloads[arguments]
    if compiled.signature.return_type != returned:  # a larger result would be written beyond its place
        raise TypeError(f"it returns {compiled.signature.return_type}, not {returned}")
    compiled.library.finalize()
    text = compiled.library.get_llvm_str()
    for name in ("frexp", "ldexp"):  # Numba's own are these, but for numbers that are not finite
        text = text.replace(f"@numba_{name}", f"@{name}")
    return text, compiled.fndesc.llvm_func_name


def machine_code(text: str, symbol: str, level: str) -> bytes:
    """Return an object file for processors of this level."""
    module = optimised(text, symbol, level)
    called = {
        value.name
        for value in (*module.functions, *module.global_variables)
        if value.is_declaration and not value.name.startswith("llvm.")
    }
    if not called <= C_LIBRARY:
        raise RuntimeError(f"{symbol} calls {', '.join(sorted(called - C_LIBRARY))}")
    return bytes(_machine(level).emit_object(module))


def optimised(text: str, symbol: str, level: str) -> Any:
    """Return the LLVM code, optimised, as one function of this name for processors of this level."""
    module = llvm.parse_assembly(text)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"  # so that it can be dropped once it is inlined everywhere
    machine = _machine(level)
    # Inline everything into one function first, with its loops in the form that the vectoriser wants.
    _run_passes(
        module, machine, 0, "add_loop_rotate_pass", "add_instruction_combine_pass", "add_jump_threading_pass"
    )
    _run_passes(module, machine, 3)
    return module


# The functions that machine code may call: arithmetic, and copies of memory.
C_LIBRARY = frozenset((
    "sqrt", "sqrtf", "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "pow", "cbrt", "hypot", "fmod",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "erf", "erfc", "lgamma", "tgamma", "floor", "ceil", "ldexp", "frexp", "memset", "memcpy", "memmove",
))  # fmt: skip


def _run_passes(module: Any, machine: Any, level: int, *more: str) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization, options.slp_vectorization = level > 0, False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    for name in more:
        getattr(passes, name)()
    passes.run(module, builder)


# By default LLVM leaves half of each vector unused, for the sake of the first processors with such wide ones.
_TUNING = {"x86-64-v4": "-prefer-256-bit"}


@cache
def _machine(level: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=level, features=_TUNING.get(level, ""), opt=3, reloc="pic", codemodel="default"
    )
