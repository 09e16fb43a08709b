"""What the rows were computed with: versions, processor, threads."""

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import steelyard
from paper import source_code

_PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "scikit-learn", "matplotlib", "safetensors")


@cache
def description() -> dict[str, str]:
    """The description for the report, by name."""
    return {
        "steelyard": f"{steelyard.__version__}, sources {source_code.library()}",
        "Python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "threads": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """The name of the processor, if the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown"
