"""What only building needs is not imported by anything else."""

import subprocess
import sys

from steelyard.native.lazy import LazyModule

LEARNS_NOTHING = """
import pkgutil, importlib, sys
from steelyard import learn, text, native
for room in (learn, text):
    for module in pkgutil.iter_modules(room.__path__):
        if module.name != "vector_registers":  # of which only kernels that are compiled have need
            importlib.import_module(f"{room.__name__}.{module.name}")
print(sorted({"numba", "llvmlite"} & set(sys.modules)))
"""


def test_a_module_is_imported_when_something_of_it_is_needed() -> None:
    script = (
        "import sys; from steelyard.native.lazy import LazyModule; late = LazyModule('wave')\n"
        "assert 'wave' not in sys.modules; late.open; assert 'wave' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_it_is_the_module() -> None:
    import math

    assert LazyModule("math").exp is math.exp


def test_kernels_are_imported_without_what_compiles_them() -> None:
    done = subprocess.run([sys.executable, "-c", LEARNS_NOTHING], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
