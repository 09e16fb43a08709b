"""Numba and llvmlite, imported only when something is compiled.

Most processes never compile: kernels are in the library (see `code`). Modules with kernels use these packages
only within functions that run while a kernel is built.
"""

import importlib
from typing import Any


class LazyModule:
    """Imports a module when one of its attributes is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


types: Any = LazyModule("numba.core.types")
arrayobj: Any = LazyModule("numba.np.arrayobj")
cgutils: Any = LazyModule("numba.core.cgutils")
ir: Any = LazyModule("llvmlite.ir")
method_compiler: Any = LazyModule("steelyard.native.method_compiler")
compiler: Any = LazyModule("steelyard.native.compiler")
