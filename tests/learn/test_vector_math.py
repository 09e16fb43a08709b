"""exp, log and their kin against the C library's."""

import math
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from steelyard.learn import vector_math
from steelyard.native.declare import Part
from tests.support.parts import callable_part


def callable_module(module: ModuleType) -> SimpleNamespace:
    """What is not ours is left as it is."""
    functions = {name: thing for name, thing in vars(module).items() if not name.startswith("__")}
    found = {name: thing for name, thing in functions.items() if callable(thing) or isinstance(thing, Part)}
    ours = {name: callable_part(thing) for name, thing in found.items() if thing is not getattr(math, name)}
    return SimpleNamespace(**found | ours)


DOUBLE, SINGLE = callable_module(vector_math.DOUBLE), callable_module(vector_math.SINGLE)
KINDS = [pytest.param(DOUBLE, 1e-15, id="double"), pytest.param(SINGLE, 2.0**-25, id="single")]
both_kinds = pytest.mark.parametrize(("kind", "exactness"), KINDS)


def worst(ours: Callable[[float], float], exact: Callable[[float], float], points: np.ndarray) -> float:
    """The largest relative error."""
    errors = []
    for x in points.tolist():
        wanted = exact(x)
        errors.append(abs(ours(x) - wanted) / abs(wanted) if wanted else abs(ours(x)))
    return max(errors)


def both_signs(low: float, high: float) -> np.ndarray:
    sizes = np.geomspace(low, high, 400)
    return np.concatenate((-sizes, [0.0], sizes))


@both_kinds
def test_exp(kind: SimpleNamespace, exactness: float) -> None:
    assert worst(kind.exp, math.exp, both_signs(1e-300, 700.0)) < exactness
    assert kind.exp(-1e300) == kind.exp(-750.0) == 0.0
    assert kind.exp(1e300) == pytest.approx(math.exp(709.0), rel=exactness)


@both_kinds
def test_expm1_near_zero_and_far_from_it(kind: SimpleNamespace, exactness: float) -> None:
    assert worst(kind.expm1, math.expm1, both_signs(1e-300, 700.0)) < exactness
    assert worst(kind.expm1, math.expm1, both_signs(0.3, 0.4)) < exactness  # where a series is at its end
    assert kind.expm1(-1e300) == -1.0


@both_kinds
def test_log(kind: SimpleNamespace, exactness: float) -> None:
    assert worst(kind.log, math.log, np.geomspace(1e-307, 1e307, 2001)) < exactness
    assert worst(kind.log, math.log, 1.0 + both_signs(1e-15, 0.5)) < exactness
    assert kind.log(0.0) == kind.log(-1.0) == -math.inf


@both_kinds
def test_log1p_near_zero_and_far_from_it(kind: SimpleNamespace, exactness: float) -> None:
    assert worst(kind.log1p, math.log1p, np.geomspace(1e-300, 1e300, 2001)) < exactness
    assert worst(kind.log1p, math.log1p, -np.geomspace(1e-300, 0.999, 401)) < exactness
    assert kind.log1p(-1.0) == -math.inf


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 0.37, 3.0])
def test_pow_of_decaying_rates(power: float) -> None:
    points = np.geomspace(1e-12, 1.0, 200)
    assert worst(lambda x: DOUBLE.pow(x, power), lambda x: x**power, points) < 4e-14


@both_kinds
def test_what_a_processor_has_is_used_as_it_is(kind: SimpleNamespace, exactness: float) -> None:
    assert kind.sqrt(2.0) == math.sqrt(2.0)
    assert kind.floor is math.floor
