"""The levels of processors that code is compiled for: each level of x86-64 also runs code of the lower ones.

Sums may be added in another order on another level, so last bits may differ. STEELYARD_PROCESSOR=x86-64-v3, for
example, uses the code of that level on all processors that have it.
"""

import os
import platform
from functools import cache
from pathlib import Path

LEVELS: dict[str, frozenset[str]] = {
    "x86-64-v4": frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
    "x86-64-v3": frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"]),
    "x86-64": frozenset(),
}
OTHER = ("generic",)
VARIABLE = "STEELYARD_PROCESSOR"


@cache
def levels() -> tuple[str, ...]:
    """Return the levels of this processor, the highest first; none above the one that STEELYARD_PROCESSOR names."""
    if not is_x86():
        return OTHER
    names, flags = tuple(LEVELS), _flags()
    has = tuple(name for k, name in enumerate(names) if all(LEVELS[below] <= flags for below in names[k:]))
    named = os.environ.get(VARIABLE, "")
    if not named:
        return has
    if named not in has:
        raise ValueError(f"{VARIABLE} is {named!r}; this processor has {', '.join(has)}")
    return has[has.index(named) :]


def level() -> str:
    return levels()[0]


def all_levels() -> tuple[str, ...]:
    """Return the levels in a wheel for processors like this one."""
    return tuple(LEVELS) if is_x86() else OTHER


def is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def _flags() -> frozenset[str]:
    """Return the features of the processor that the operating system lists."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line.partition(":")[2] for line in lines if line.startswith("flags")), "").split())
