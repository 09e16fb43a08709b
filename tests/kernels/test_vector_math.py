"""exp, log and their kin against the C library's."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from steelyard.kernels import vector_math

FEW_ULP = 1e-15


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


def test_exp() -> None:
    assert worst(vector_math.exp, math.exp, both_signs(1e-300, 700.0)) < FEW_ULP
    assert vector_math.exp(-1e300) == vector_math.exp(-750.0) == 0.0
    assert vector_math.exp(1e300) == pytest.approx(math.exp(709.0), rel=1e-15)


def test_expm1_near_zero_and_far_from_it() -> None:
    assert worst(vector_math.expm1, math.expm1, both_signs(1e-300, 700.0)) < FEW_ULP
    assert vector_math.expm1(-1e300) == -1.0


def test_log() -> None:
    assert worst(vector_math.log, math.log, np.geomspace(1e-307, 1e307, 2001)) < FEW_ULP
    assert worst(vector_math.log, math.log, 1.0 + both_signs(1e-15, 0.5)) < FEW_ULP
    assert vector_math.log(0.0) == vector_math.log(-1.0) == -math.inf


def test_log1p_near_zero_and_far_from_it() -> None:
    assert worst(vector_math.log1p, math.log1p, np.geomspace(1e-300, 1e300, 2001)) < FEW_ULP
    assert worst(vector_math.log1p, math.log1p, -np.geomspace(1e-300, 0.999, 401)) < FEW_ULP
    assert vector_math.log1p(-1.0) == -math.inf


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 0.37, 3.0])
def test_pow_of_decaying_rates(power: float) -> None:
    assert (
        worst(lambda x: vector_math.pow(x, power), lambda x: x**power, np.geomspace(1e-12, 1.0, 200)) < 4e-14
    )


def test_sqrt() -> None:
    assert vector_math.sqrt(2.0) == math.sqrt(2.0)
