"""Lambert W, the logistic flow and step, and other stable scalar functions that the losses share.

The three solvers work alike: guess the root within a few per cent, rewrite the equation around the guess so
that the remainder is small, and find the remainder with arithmetic alone
(`_flow_remainder`, `_implicit_remainder`). No loop, one or two calls of exp and log, and a
relative error of a few units in the last place over the whole range of float64.
"""

import math

# e^x for x beyond this raises in plain Python and is infinite in compiled code.
LARGEST_EXPONENT = 709.0

# Beyond this margin e^q overflows. There 1 + e^q equals e^q, so only u·e^−q matters.
_LARGEST_MARGIN = 700.0
_LARGEST_EXP = math.exp(_LARGEST_MARGIN)

# The largest scaled push for which no guess is needed: the remainder formulas start from zero.
_SMALL_FLOW = 1.0
_SMALL_IMPLICIT = 0.25


def bounded_exp(x: float) -> float:
    """e^x, but at most e^709 ≈ 8e307."""
    return math.exp(min(x, LARGEST_EXPONENT))


def lambert_w(x: float) -> float:
    """The w ≥ 0 with w·e^w = x, for x ≥ 0."""
    if x < _SMALL_IMPLICIT:
        return _implicit_remainder(0.0, 1.0, x)
    guess = _guess_w(math.log1p(x))
    d = math.log(x / guess)
    return d + _implicit_remainder(d, 1.0 / (1.0 + d), (guess - d) / (1.0 + d))


def lambert_w_of_exp(s: float) -> float:
    """W(e^s) for s ≥ 1, also where e^s itself would overflow."""
    guess = _guess_w(s)
    d = s - math.log(guess)
    return d + _implicit_remainder(d, 1.0 / (1.0 + d), (guess - d) / (1.0 + d))


def log1p_of_fraction(e: float) -> float:
    """log(1 + e) for 0 ≤ e ≤ 1 as 2·atanh(e/(2 + e)): a few times quicker than math.log1p."""
    s = e / (2.0 + e)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    a = (1.0 + z / 3.0) + z2 * (1.0 / 5.0 + z / 7.0)
    b = (1.0 / 9.0 + z / 11.0) + z2 * (1.0 / 13.0 + z / 15.0)
    c = (1.0 / 17.0 + z / 19.0) + z2 * (1.0 / 21.0 + z / 23.0)
    d = (1.0 / 25.0 + z / 27.0) + z2 * (1.0 / 29.0 + z / 31.0)
    return 2.0 * s * ((a + z4 * b) + z4 * z4 * (c + z4 * d))


def _within_range(q: float, u: float) -> tuple[float, float, float]:
    """An equivalent margin and push within the range of float64, and e^q."""
    beyond = q > _LARGEST_MARGIN
    x = math.exp(_LARGEST_MARGIN - q if beyond else q)
    return min(q, _LARGEST_MARGIN), u * x if beyond else u, _LARGEST_EXP if beyond else x


def logistic_flow(q: float, u: float) -> float:
    """The d ≥ 0 with d + e^q·(e^d − 1) = u: how far the push u moves the margin q."""
    q, u, e = _within_range(q, u)
    d, z = 0.0, e  # a guess, and e^(q+d)
    if u > _SMALL_FLOW * (1.0 + e):
        c = u + q + e  # z + log z = c
        if c < 1.0:
            d = u + e - _guess_z(c)
            z = math.exp(q + d)
        else:
            z = 0.86 * c + 0.01
            d = _log_ratio(z, q, e)
    inverse = 1.0 / (1.0 + z)
    return d + _flow_remainder((u - d - (z - e)) * inverse, z * inverse)


def logistic_implicit(q: float, u: float) -> float:
    """The d ≥ 0 with d = u/(1 + e^(q+d))."""
    q, u, e = _within_range(q, u)
    d, z = 0.0, e
    if u > _SMALL_IMPLICIT * (1.0 + e):
        a = u / (1.0 + e)
        far = q < -2.0
        log_ratio = math.log(u if far else 1.0 + u / e) - (q if far else 0.0)
        rough = a if log_ratio <= 0.0 else min(a, _guess_w(log_ratio))
        c = u + q + math.log(rough)  # d·z + log(d·z) ≈ c
        if c < 1.0:
            d = u - _guess_z(c)
            z = math.exp(q + d)
        else:
            z = (0.86 * c + 0.01) / rough
            d = _log_ratio(z, q, e)
    inverse = 1.0 / (1.0 + z * (1.0 + d))
    return d + _implicit_remainder(d, z * inverse, (u - d * (1.0 + z)) * inverse)


def _log_ratio(z: float, q: float, e: float) -> float:
    """log(z/e^q), computed as a quotient only if e^q is not tiny."""
    tiny = q < 0.0
    return math.log(z if tiny else z / e) - (q if tiny else 0.0)


def logistic_push_for(q: float, d: float) -> float:
    """The push that moves the margin q by d; infinite for d < 0."""
    if d < 0.0:
        return math.inf
    return d + exponential_push_for(q, d)


def exponential_push_for(q: float, d: float) -> float:
    """e^q·(e^d − 1) for d ≥ 0 without cancellation; in halves, as e^q alone may overflow."""
    if d > 1.0:
        half = bounded_exp(0.5 * (q + d))
        return half * half * -math.expm1(-d)
    half = bounded_exp(0.5 * q)
    return half * math.expm1(d) * half


def _guess_w(log1p_x: float) -> float:
    """W(x) within 3 %, from log(1 + x)."""
    return log1p_x * (1.0 - 0.5 * log1p_x / (1.0 + log1p_x * (1.1735 + 0.0993 * log1p_x)))


def _guess_z(c: float) -> float:
    """The z with z + log z = c, roughly, for c < 1."""
    s = 1.0 - c
    return 1.0 / (1.0 + s * (0.5 + s / 3.0))


def _expm1_minus(x: float) -> float:
    """e^x − 1 − x for |x| < 0.75 without cancellation: a polynomial fitted to it, evaluated in halves.

    Halves (Estrin's scheme) have a shorter chain of dependent operations than Horner's rule.
    """
    x2 = x * x
    x4 = x2 * x2
    a = (0.5 + x * 0.16666666666666669) + x2 * (0.04166666666666647 + x * 0.008333333333332478)
    b = (0.0013888888889010804 + x * 0.00019841269841401274) + x2 * (
        2.4801587055503776e-05 + x * 2.7557324837199208e-06
    )
    c = (2.7557410520690314e-07 + x * 2.5046186274096908e-08) + x2 * (
        2.098636561011985e-09 + x * 1.504864770234457e-10
    )
    return x2 * ((a + x4 * b) + x4 * x4 * (c + x4 * 1.6110774519186782e-11))


def _flow_remainder(a: float, k: float) -> float:
    """The e with e + k·(e^e − 1 − e) = a, for −0.2 ≤ a ≤ 1 and 0 ≤ k ≤ 1.

    The logistic flow seen from a guess d obeys this with z = e^(q+d), k = z/(1+z) and a the
    residual over 1+z. Start from a ratio of polynomials fitted to e, off by 1.5e-4 of it at most; what
    is then missing obeys the same equation once more, and its series in the small residual r is reverted.
    The next row waits for this, so what counts is the length of the chain: no root, two divisions.
    """
    m = a * k
    c = 1.0 - 0.21192 * a
    e = a * (c + m * (1.12013 + 0.05521 * m)) / (c + m * (1.61922 + 0.06155 * a + 0.36418 * m))
    f = _expm1_minus(e)
    w = e + f
    inverse = 1.0 / (1.0 + k * w)
    r = (a - e - k * f) * inverse
    b = k * (1.0 + w) * inverse
    return e + r * (1.0 - r * b * (0.5 - r * (0.5 * b - 1.0 / 6.0)))


def _implicit_remainder(d: float, k: float, a: float) -> float:
    """The e with e + k·(d·(e^e − 1 − e) + e·(e^e − 1)) = a, likewise.

    The logistic implicit step seen from a guess d, with k = z/(1 + z(1+d)); Lambert W is the case
    in which z is everything and 1 nothing. The last step is Newton carried to fourth order.
    """
    m = k * (2.0 + d)
    b = (d + 3.0) / (3.0 * d + 6.0)
    t = 1.0 - a * b
    e = 2.0 * a / (1.0 + a * b + math.sqrt(t * t + 2.0 * a * m))
    f = _expm1_minus(e)
    w = e + f
    inverse = 1.0 / (1.0 + k * ((d + 1.0) * w + e * (1.0 + w)))
    r = (a - e - k * (d * f + e * w)) * inverse
    h = k * (1.0 + w) * inverse
    h2 = 0.5 * h * (d + e + 2.0)
    h3 = h * (d + e + 3.0) / 6.0
    h4 = h * (d + e + 4.0) / 24.0
    return e + r * (1.0 - r * (h2 - r * (2.0 * h2 * h2 - h3 - r * (h2 * (5.0 * h2 * h2 - 5.0 * h3) + h4))))
