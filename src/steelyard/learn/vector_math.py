"""exp, log and others of `math` as plain arithmetic, so that loops around them are vectorised.

A call of the C library would prevent that. These functions have no calls, no tables and no branches except
choices between two numbers. Those of `DOUBLE` are accurate to a few units in the last place wherever float64
has full precision. Those of `SINGLE`, for lanes with float32 weights, are accurate to half a unit in the last
place of float32 and have shorter polynomials. Polynomials are evaluated in halves (Estrin's scheme), which
has shorter chains of dependent operations. Results beyond the range are clamped instead of overflowing.
`batched_loss` puts these functions in place of `math` in the methods of a loss.
"""

import math
import types
from functools import partial
from typing import Any

import numpy as np

from steelyard.native.declare import PLAIN, Part

# Fusing a·b + c only adds precision, and a division by a constant becomes a product.
ARITHMETIC = frozenset({"contract", "arcp"})
arithmetic: Any = (lambda function: function) if PLAIN else partial(Part, inline=True, fastmath=ARITHMETIC)

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # their sum has 33 more bits
_LOWEST, _HIGHEST = -708.0, 709.0
_MANTISSA_BITS = np.int64(52)
_EXPONENT_OF_1 = np.int64(1023)
_BITS_OF_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)


@arithmetic
def _expm1_double(r):
    """e^r − 1 for |r| ≤ ½ log 2."""
    r2 = r * r
    r4 = r2 * r2
    a = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0))
    b = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    c = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    return r + r2 * ((a + r4 * b) + r4 * r4 * c)


@arithmetic
def _expm1_single(r):
    r2 = r * r
    a = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0))
    return r + r2 * (a + r2 * r2 * (1.0 / 720.0 + r * (1.0 / 5040.0)))


@arithmetic
def _log_double(m):
    """log m for m between √½ and √2, as a sum of two numbers, the first much larger than the second."""
    f = (m - 1.0) / (m + 1.0)  # log m = 2·artanh f
    z = f * f
    z2 = z * z
    z4 = z2 * z2
    a = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0))
    b = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (1.0 / 15.0 + z * (1.0 / 17.0))
    return 2.0 * f, 2.0 * f * z * ((a + z4 * b) + z4 * z4 * (1.0 / 19.0))


@arithmetic
def _log_single(m):
    """log m, by a polynomial that interpolates (log(1 + x) − x + x²/2)/x³, which avoids a slow division."""
    x = m - 1.0
    x2 = x * x
    x4 = x2 * x2
    a = (0.33333331180030057 - x * 0.2499999695795134) + x2 * (0.20000715748892134 - x * 0.1666780231946007)
    b = (0.1424905764565604 - x * 0.12425687332395499) + x2 * (0.11685419924940114 - x * 0.11479733840378506)
    return x, x2 * (x * ((a + x4 * b) + x4 * x4 * 0.0697161145934157) - 0.5)


def _twin(expm1_of_rest, log_of_rest):
    """Make a module like `math`, with functions built from these two."""

    @arithmetic
    def exp(x):
        """e^x; 0 below the normal numbers, at most e^709."""
        n, r = _split(x)
        return (1.0 + expm1_of_rest(r)) * _power_of_two(n) if x >= _LOWEST else 0.0

    @arithmetic
    def expm1(x):
        """e^x − 1 without cancellation."""
        n, r = _split(x)
        two_n = _power_of_two(n)
        return expm1_of_rest(r) * two_n + (two_n - 1.0)

    @arithmetic
    def log(x):
        """log x for normal numbers; −∞ from 0 down."""
        bits = np.float64(x).view(np.int64)
        n = (bits - _BITS_OF_ROOT_HALF) >> _MANTISSA_BITS
        m = np.int64(bits - (n << _MANTISSA_BITS)).view(np.float64)  # x = m·2^n, m between √½ and √2
        e = np.float64(n)
        most, rest = log_of_rest(m)
        result = e * _LN2_HIGH + (most + (rest + e * _LN2_LOW))
        return result if x > 0.0 else -np.inf

    @arithmetic
    def log1p(x):
        """log(1 + x) without cancellation: the rounding error of 1 + x is corrected."""
        u = 1.0 + x
        return log(u) + ((x - (u - 1.0)) / u if u > 0.0 else 0.0)

    @arithmetic
    def pow(x, y):  # noqa: A001
        """x^y for x > 0; it loses as many digits as |y·log x| has before its point."""
        return exp(y * log(x))

    twin = types.ModuleType("math")
    own = {"exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "pow": pow, "sqrt": _sqrt}
    twin.__dict__.update(vars(math) | own)
    return twin


@arithmetic
def _split(x):
    """n and r with x = n·log 2 + r, r at most ½ log 2 either way."""
    held = min(max(x, _LOWEST), _HIGHEST)
    n = np.floor(held * _LOG2_E + 0.5)
    return n, (held - n * _LN2_HIGH) - n * _LN2_LOW


@arithmetic
def _power_of_two(n):
    return np.int64((np.int64(n) + _EXPONENT_OF_1) << _MANTISSA_BITS).view(np.float64)


@arithmetic
def _sqrt(x):
    return np.sqrt(x)


DOUBLE = _twin(_expm1_double, _log_double)
SINGLE = _twin(_expm1_single, _log_single)
