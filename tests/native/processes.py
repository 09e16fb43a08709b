"""Scripts in processes of their own: what is compiled in one is there for the next."""

import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import steelyard

SOURCES = Path(steelyard.__file__).parents[1]

# One compiled method: it says its value at (3, 1).
VALUE = """
import ctypes
from steelyard.native.methods import pointer
def value(loss, name="value"):
    code, parameters = pointer(loss, name).words
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double, ctypes.c_double)
    return kind(code)(parameters, 3.0, 1.0)
"""


def run(script: str, *paths: Path, **environment: str) -> tuple[str, list[str]]:
    """What a script writes, and what it said that it compiled."""
    done = start(script, *paths, **environment)
    said, errors = done.communicate()
    assert done.returncode == 0, errors
    return said.strip(), compiled(errors)


def start(script: str, *paths: Path, **environment: str) -> subprocess.Popen[str]:
    search = os.pathsep.join(map(str, paths))
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env=inherited() | {"PYTHONPATH": search} | environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def inherited() -> dict[str, str]:
    """The environment, without what says how and where kernels are compiled."""
    ours = "STEELYARD", "NUMBA", "XDG"
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def compiled(errors: str) -> list[str]:
    lines = errors.splitlines()
    assert all(line.startswith("steelyard: compiling ") and line.endswith(", once") for line in lines), errors
    return [line.removeprefix("steelyard: compiling ").removesuffix(", once") for line in lines]


def write(file: Path, text: str) -> None:
    """Write a source with a time of its own: Python keeps the bytecode of files as old and as long."""
    file.write_text(text)
    age = next(_ages)
    os.utime(file, (age, age))


_ages = itertools.count(1_000_000_000)


def copy_of_the_package(folder: Path) -> Path:
    """A copy whose sources may be edited; returns the package."""
    package = folder / "steelyard"
    shutil.copytree(Path(steelyard.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def packages_without(folder: Path, *names: str) -> Path:
    """A folder with all packages that are installed here but these, for a Python that sees no others (-S)."""
    folder.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith((*names, "__editable__", "_editable")) and package.suffix != ".pth":
            (folder / package.name).symlink_to(package)
    return folder
