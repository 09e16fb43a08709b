"""An object file becomes code that runs: linked into a shared library, or by LLVM's own loader."""

import ctypes
import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from steelyard._atomic_files import replacing

OBJECT, LINKED = ".o", ".so"
_OURS = re.compile(r"[0-9a-f]{32}-[0-9a-f]{32}\.[0-9a-f]{16}\.s?o")  # users may keep other files beside them
_MOST_FILES = 2000  # an edit of code that many kernels share makes hundreds of new files


class LinkerError(RuntimeError):
    """A linker was found, and it failed."""


def find(folder: Path, name: str, symbol: str) -> int | None:
    """Return the address of the symbol in the code stored under this name; None if there is no intact file."""
    for suffix in (LINKED, OBJECT):
        for file in folder.glob(f"{name}.*{suffix}"):
            # A file may be damaged, or made on another system, or an object that nothing here can load.
            with suppress(OSError, ImportError):
                if file.stem.endswith(f".{_checksum(file.read_bytes())}"):
                    return load(file, symbol)
    return None


def store(code: bytes, folder: Path, name: str) -> Path:
    """Write the code of one object into the folder, linked if there is a linker that works."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        single = Path(place, f"code{OBJECT}")
        single.write_bytes(code)
        try:
            made = link([single], single.with_suffix(LINKED))
        except (OSError, LinkerError):  # LLVM loads the object
            made = single
        whole = made.read_bytes()
    _drop_oldest(folder)
    file = folder / f"{name}.{_checksum(whole)}{made.suffix}"
    with replacing(file) as temporary:
        temporary.write_bytes(whole)
    return file


def _checksum(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()[:16]


def _drop_oldest(folder: Path) -> None:
    with suppress(OSError):  # another process may remove the same files
        files = [file for file in folder.iterdir() if _OURS.fullmatch(file.name)]
        if len(files) >= _MOST_FILES:
            for file in sorted(files, key=lambda file: file.stat().st_mtime)[: len(files) - _MOST_FILES // 2]:
                file.unlink()


@cache
def find_linker() -> tuple[str, ...] | None:
    """Find a C compiler that links: on PATH, or the Python package ziglang."""
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is not None:
            return (path,)
    return (sys.executable, "-m", "ziglang", "cc") if importlib.util.find_spec("ziglang") else None


def link(objects: Sequence[Path], library: Path) -> Path:
    linker = find_linker()
    if linker is None:
        raise FileNotFoundError(
            "there is no C compiler to link with: install gcc, clang or the package ziglang"
        )
    with replacing(library) as temporary, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        # In a file, as hundreds of names would be more than a command may have on Windows.
        names = Path(place, "objects")
        names.write_text("\n".join(f'"{file.as_posix()}"' for file in objects), encoding="utf-8")
        command = [*linker, "-shared", "-o", str(temporary), f"@{names}", "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise LinkerError(f"{linker[0]} could not link {library}: {done.stderr.strip()}")
    return library


def load(file: Path, symbol: str) -> int:
    """Load the code, and return the address of the symbol."""
    if file.suffix == LINKED:
        return address_of(ctypes.CDLL(str(file)), symbol)
    return load_object(file.read_bytes(), symbol)


def address_of(library: Any, symbol: str) -> int:
    return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0


_engines: list[Any] = []  # machine code is freed with its engine


def load_object(code: bytes, symbol: str) -> int:
    """Load an object with an engine of its own, as two of them may export the same symbol."""
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True, codemodel="jitdefault")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(symbol))
