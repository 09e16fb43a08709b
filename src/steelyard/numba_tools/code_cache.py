"""A disk cache for the machine code of function pointers.

Compiling the pointers of one learner takes as long as everything else before its first row. Numba's own cache
does not suit them: it notices neither a change in another file nor another value of a global. So this cache
names its files by everything that determines the code: the fingerprint of the function, the versions of the
compilers, their switches and the processor. No file is ever stale.

A file holds one function and what that calls, under a unique name: Numba numbers the functions of every
process from 1, so files of two processes would both contain a function number 7.

The fingerprint of a plain function is a digest of its bytecode and constants, of those of every function it
may call, of the values of the globals they name, and of the numbers and methods of the object they are bound
to. Two functions with one fingerprint compile to the same code, whatever file, class or process they are in.
"""

import hashlib
import math
import os
import sys
import threading
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding as llvm
from numba.extending import typeof_impl

from steelyard._atomic_files import replacing
from steelyard.numba_tools import numba_private

_MOST_FILES = 500  # every value of a learning rate makes a new one
_DIGEST_SIZE = 32  # bytes
_SPEED_LEVEL = 3  # of the optimiser, the same as Numba's
_PLAIN = (bool, int, float, str, types.NoneType)

_lock = threading.Lock()
_loaded: dict[str, "Pointer"] = {}


class Pointer:
    """A function in memory. Kernels accept any object with a `__wrapper_address__`."""

    def __init__(self, address: int, signature: Any) -> None:
        self.address = address
        self.type = numba.types.FunctionType(signature)

    def __wrapper_address__(self) -> int:
        return self.address


@typeof_impl.register(Pointer)
def _type_of(pointer: Pointer, context: Any) -> Any:
    """The stored type: making a new one at every call takes longer than a short kernel runs."""
    return pointer.type


def load_or_compile(key: str, signature: Any, compile_function: Callable[[], Any]) -> Any:
    """The function with this key: from its file, else from the `cfunc` that `compile_function` returns.

    If another process could not use its code, the result is that `cfunc` itself.
    """
    described = repr((key, str(signature), _environment()))
    name = f"steelyard_{hashlib.sha256(described.encode()).hexdigest()}"
    with _lock:
        if name not in _loaded:
            file = _folder() / f"{name}.o"
            code = _read(file)
            if not code:
                fresh = compile_function()
                code = _object_code(fresh, name)
                if not code:
                    return fresh
                _write(file, code)
            _loaded[name] = Pointer(_link(code, name), signature)
        return _loaded[name]


@cache
def _environment() -> tuple[Any, ...]:
    return (
        sys.version, numba.__version__, llvmlite.__version__,
        llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(),
        sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_")),
    )  # fmt: skip


@cache
def _folder() -> Path:
    """Where Numba caches the functions of this file."""
    return numba_private.cache_folder(_folder.__wrapped__)


def _object_code(compiled: Any, name: str) -> bytes:
    """The machine code; empty if it calls anything but `math`: that may have another address next time."""
    assembly, entry = numba_private.llvm_code(compiled)
    module = llvm.parse_assembly(assembly)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != entry:
            value.linkage = "internal"  # so that it can be dropped once it is inlined everywhere
    module.get_function(entry).name = name
    machine = _machine()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=_SPEED_LEVEL))
    passes.getModulePassManager().run(module, passes)
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration and not value.name.startswith("llvm.") and not hasattr(math, value.name):
            return b""
    return bytes(machine.emit_object(module))


def _link(code: bytes, name: str) -> int:
    """Load the code into memory and return its address."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return int(engine.get_function_address(name))


@cache
def _engine() -> Any:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())


def _machine() -> Any:
    """This processor. Every engine needs a machine of its own."""
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=_SPEED_LEVEL,
        codemodel="jitdefault", jit=True,
    )  # fmt: skip


def _read(file: Path) -> bytes:
    """The code in the file; empty if it is missing or damaged: linking half a file would end the process."""
    try:
        content = file.read_bytes()
    except OSError:
        return b""
    code = content[_DIGEST_SIZE:]
    return code if hashlib.sha256(code).digest() == content[:_DIGEST_SIZE] else b""


def _write(file: Path, code: bytes) -> None:
    """Best effort: if the disk is full or read-only, every process compiles for itself."""
    try:
        with replacing(file) as temporary:
            temporary.write_bytes(hashlib.sha256(code).digest() + code)
        files = sorted(file.parent.glob("steelyard_*.o"), key=lambda other: other.stat().st_mtime)
        for old in files[:-_MOST_FILES]:
            old.unlink()
    except OSError:
        pass


def fingerprint(function: Callable[..., float], thing: Any) -> str | None:
    """The fingerprint of a function whose first argument is bound to `thing`, such as a loss.

    None if it depends on something that may change unnoticed: an array, a closure, a compiled function.
    """
    try:
        described = _Describer(thing).function(function)
    except _OpaqueError:
        return None
    return hashlib.sha256(repr(described).encode()).hexdigest()


class _OpaqueError(Exception):
    """The function depends on something that may change unnoticed."""


class _Describer:
    """Describes functions as nested tuples whose `repr` determines the code."""

    def __init__(self, thing: Any) -> None:
        self._thing = thing
        self._seen: dict[Any, int] = {}

    def function(self, function: Any) -> tuple[Any, ...]:
        if function in self._seen:
            return ("again", self._seen[function])
        self._seen[function] = len(self._seen)
        code = function.__code__
        if code.co_freevars:
            raise _OpaqueError
        return (
            code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount, code.co_varnames,
            self._value(code.co_consts, ()),
            *(self._name(name, function) for name in code.co_names),
        )  # fmt: skip

    def _name(self, name: str, function: Any) -> tuple[Any, ...]:
        """All that a name may refer to: a global, and a member of the bound object."""
        names, scope = function.__code__.co_names, function.__globals__
        found = (self._value(scope[name], names),) if name in scope else ()
        method = getattr(type(self._thing), name, None)
        if isinstance(method, types.FunctionType):
            return name, found, self.function(method)
        number = getattr(self._thing, name, None)
        return name, found, float(number) if isinstance(number, int | float) else None

    def _value(self, value: Any, names: tuple[str, ...]) -> Any:
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if value is math:
            return "math"
        if isinstance(value, types.ModuleType):
            members = vars(value)
            return tuple((name, self._value(members[name], names)) for name in names if name in members)
        if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math":
            return "math", value.__name__
        if type(value) is tuple:
            return tuple(self._value(item, names) for item in value)
        if type(value) not in _PLAIN:
            raise _OpaqueError
        return type(value).__name__, value
