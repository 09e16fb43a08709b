"""A loss at fifty digits, from its own source.

Losses are plain arithmetic over `math`, so the very same methods run on mpmath numbers once their
global `math` is exchanged. `HighPrecision(loss)` does that for every method it is asked for, and
for the helpers these call. Only `value`, `derivative`, `curvature` and closed `push_for` are exact
by themselves (the flows contain solvers tuned to float64): the laws check everything else by them.
"""

import math
import types
from functools import partial
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf
from scipy.integrate import quad

from steelyard.losses import Loss

mp.dps = 50


class _Mathematics(types.SimpleNamespace):
    def __getattr__(self, name: str) -> Any:
        return getattr(mp, name)


_mp_math = _Mathematics(
    pow=mp.power,
    isfinite=mp.isfinite,
    copysign=lambda size, sign: abs(size) if sign >= 0 else -abs(size),
)


class HighPrecision:
    """Looks like the loss, computes with mpmath."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def __getattr__(self, name: str) -> Any:
        method = getattr(type(self._loss), name, None)
        if isinstance(method, types.FunctionType):
            return partial(_translate(method), self)
        return getattr(self._loss, name)


def push_for(loss: Loss, p: float, y: float, change: mpf) -> mpf:
    """The exact push: the loss's closed form at high precision, or QUADPACK where it has none."""
    twin = HighPrecision(loss)
    if is_closed(loss, y):
        return mpf(twin.push_for(mpf(p), mpf(y), mpf(change)))
    if twin.derivative(p + change, mpf(y)) * change >= 0:
        return mp.inf
    # pieces that shrink towards both ends, so that no short stretch of high speed is overlooked
    cuts = [0.618**k for k in range(55, 1, -1)] + [1.0 - 0.618**k for k in range(2, 55)]
    return mpf(sum(_time(loss, p, y, a * change, b * change) for a, b in pairwise([0.0, *cuts, 1.0])))


def _time(loss: Loss, p: float, y: float, start: float, end: float) -> float:
    def slowness(x: float) -> float:
        return -1.0 / loss.derivative(p + x, y)

    if math.isinf(slowness(start)):  # of which older versions of SciPy make NaN
        return math.inf
    time: float = quad(slowness, start, end, epsabs=0, epsrel=1e-12, limit=500, full_output=1)[0]
    return time


def is_closed(loss: Loss, y: float) -> bool:
    """Whether flow and push_for of this loss for this label are formulas rather than numeric."""
    soft = loss.soft_labels is not None and y in loss.soft_labels
    return not soft and type(loss).flow is not Loss.flow and type(loss).push_for is not Loss.push_for


def _translate(thing: Any) -> Any:
    if thing is math:
        return _mp_math
    if isinstance(thing, types.ModuleType) and thing.__name__.startswith("steelyard."):
        return _Translated(thing)
    if isinstance(thing, types.FunctionType):
        return types.FunctionType(thing.__code__, _Globals(thing.__globals__), thing.__name__)
    return mpf(thing) if isinstance(thing, float) else thing


class _Translated:
    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _translate(getattr(self._module, name))


class _Globals(dict):  # type: ignore[type-arg]
    """A function's globals, translated when first asked for."""

    def __init__(self, original: dict[str, Any]) -> None:
        super().__init__(__builtins__=original["__builtins__"])
        self._original = original

    def __missing__(self, name: str) -> Any:
        if name not in self._original:
            raise KeyError(name)
        self[name] = _translate(self._original[name])
        return self[name]
