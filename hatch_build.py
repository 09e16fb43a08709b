"""Wheels bring the library of compiled kernels, built here for each level of processors; their tags say so.

Nothing is built for an editable installation: a checkout compiles what it needs when it needs it.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The package is found in the sources, all else where pip has put it: in PYTHONPATH, from which pip takes what an
# editable installation adds.
_BUILD = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from steelyard.building.__main__ import main
main(*sys.argv[1:])
"""
_GLIBC = re.compile(rb"GLIBC_2\.(\d+)")


class LibraryHook(BuildHookInterface[Any]):
    """Finds nothing to do unless a wheel is built."""

    def dependencies(self) -> list[str]:
        """A linker, where the system has none."""
        return [] if any(map(shutil.which, ("cc", "gcc", "clang"))) else ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        sources, folder = Path(self.root) / "src", Path(self.root) / "build" / "library"
        shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, "-c", _BUILD, str(sources), str(folder), str(folder.with_name("objects"))]
        # In a process of its own: switches of Numba would show in the code, and so would the order of sets.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        subprocess.run(command, check=True, env=environment | {"PYTHONHASHSEED": "0"})
        libraries = sorted(folder.iterdir())
        for library in libraries:
            build_data["force_include"][str(library)] = f"steelyard/native/libraries/{library.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(libraries)}"


def platform_tag(libraries: list[Path]) -> str:
    """That of this platform; on Linux it names the newest C library that is asked for."""
    plain = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    asked = [int(minor) for library in libraries for minor in _GLIBC.findall(library.read_bytes())]
    if not plain.startswith("linux_") or not asked:
        return plain
    return plain.replace("linux", f"manylinux_2_{max([*asked, 17])}", 1)
