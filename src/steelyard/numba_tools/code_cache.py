"""Machine code of pointers, kept on disk from process to process.

To compile the pointers of one learner takes as long as all else before its first row. Numba's own
cache is not for them: it notices neither a change in another file nor another value of a global. So
their code is kept here, in files named by all that decides it: the caller's key, which says what is
computed, the versions of the compilers, their switches and the processor. No file is ever stale.

A file holds one function and whatever that calls, under a name of its own: Numba numbers functions
in every process anew, and two files from two processes would both have a number 7.
"""

import hashlib
import math
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding as llvm
from numba.experimental import function_type  # noqa: F401  (it knows what to do with addresses)
from numba.extending import typeof_impl

from steelyard._atomic_files import replacing

_MOST = 500  # files: every value of a learning rate makes a new one
_DIGEST = 32  # bytes
_SPEED = 3  # the level of optimisation, as Numba's own

_lock = threading.Lock()
_loaded: dict[str, "Pointer"] = {}


class Pointer:
    """Code in memory, as kernels take it: whatever has this method."""

    def __init__(self, address: int, signature: Any) -> None:
        self.address = address
        self.type = numba.types.FunctionType(signature)

    def __wrapper_address__(self) -> int:
        return self.address


@typeof_impl.register(Pointer)
def _type_of(pointer: Pointer, context: Any) -> Any:
    """Known beforehand: Numba would make a new one at every call, which takes longer than a short kernel."""
    return pointer.type


def kept(key: str, signature: Any, compiled: Callable[[], Any]) -> Any:
    """The function with this key: from its file, else from the `cfunc` that `compiled` makes.

    That itself is the answer if its code is of no use to another process.
    """
    described = repr((key, str(signature), _circumstances()))
    name = f"steelyard_{hashlib.sha256(described.encode()).hexdigest()}"
    with _lock:
        if name not in _loaded:
            file = _folder() / f"{name}.o"
            code = _read(file)
            if not code:
                fresh = compiled()
                code = _object(fresh, name)
                if not code:
                    return fresh
                _write(file, code)
            _loaded[name] = Pointer(_linked(code, name), signature)
        return _loaded[name]


@cache
def _circumstances() -> tuple[Any, ...]:
    return (
        sys.version, numba.__version__, llvmlite.__version__,
        llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(),
        sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_")),
    )  # fmt: skip


@cache
def _folder() -> Path:
    """Where Numba keeps the kernels of this room."""
    return Path(numba.njit(cache=True)(_folder.__wrapped__).stats.cache_path)


def _object(compiled: Any, name: str) -> bytes:
    """The code, flat; nothing if it calls anything but mathematics: that may lie elsewhere the next time."""
    # Numba keeps a function out of the wrapper that handles its errors. Inside, it shows that there are none.
    module = llvm.parse_assembly(compiled.inspect_llvm().replace("noinline", "alwaysinline"))
    entry = compiled.native_name
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != entry:
            value.linkage = "internal"  # and gone, where it has become part of its callers
    module.get_function(entry).name = name
    machine = _machine()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=_SPEED))
    passes.getModulePassManager().run(module, passes)
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration and not value.name.startswith("llvm.") and not hasattr(math, value.name):
            return b""
    return bytes(machine.emit_object(module))


def _linked(code: bytes, name: str) -> int:
    """The address of the code in memory."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return int(engine.get_function_address(name))


@cache
def _engine() -> Any:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())


def _machine() -> Any:
    """This very processor. Each engine wants its own."""
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=_SPEED,
        codemodel="jitdefault", jit=True,
    )  # fmt: skip


def _read(file: Path) -> bytes:
    """What was written, or nothing: to link half a file would end the process."""
    try:
        content = file.read_bytes()
    except OSError:
        return b""
    code = content[_DIGEST:]
    return code if hashlib.sha256(code).digest() == content[:_DIGEST] else b""


def _write(file: Path, code: bytes) -> None:
    """Best effort: with the disk full or read-only every process compiles for itself."""
    try:
        with replacing(file) as temporary:
            temporary.write_bytes(hashlib.sha256(code).digest() + code)
        files = sorted(file.parent.glob("steelyard_*.o"), key=lambda other: other.stat().st_mtime)
        for old in files[:-_MOST]:
            old.unlink()
    except OSError:
        pass
