"""L1 and L2 by splitting, lazily, for coefficients that are averaged.

As in `linear`, a coefficient is stored as v and stands for w = S·soft(v, A − A_i). The model predicts with the
mean of w over the clock (see `averages`), so the average has to follow w as it shrinks, also in rows without
the feature. With τ = (t/R)^power, and S(t) and A(t) changing at the end of each epoch (of each row, if the
update is not invariant):

    average·τ(T) = ∫ S·v dτ = C·v − lag,    C = ∫ S dτ = S·τ + E,    E = −∫ τ dS,    lag = ∫ C dv

E is SCALE_LAG. Without L2, S = 1 and E = 0, and this is the lag of `averages`. L1 moves v by dA towards 0
until it is there, which adds ∫ C dA to the lag. G = ∫ C dA over all payments is L1_LAG; a feature remembers
the G at which it last paid (`l1_lags`), as it remembers A. A feature that has reached 0 on the way needs the G
of that time: `payments` lists A and G after each payment. Between two payments G is linear in A, so that is
exact.

When the list is full, or S has become small, all features pay (`pay_all`), and A, G, E and the list begin
anew. That depends on the rows alone, never on chunks or on who looks at the model.

A coefficient that L1 holds at 0 now is exactly 0 in the answer, whatever it was before.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.linear import BIAS_LAG, L1_LAG, L1_TOTAL, PAYMENTS, SCALE, SCALE_LAG, soft
from steelyard.native.declare import helper, part

SCALARS = [SCALE_LAG, L1_LAG, PAYMENTS]  # the indices in `state` of the numbers above

# S is folded into the coefficients before C·v − lag loses more than two digits to cancellation.
SMALLEST_SCALE = 1e-3
_FEWEST, _MOST, _FEATURES_A_ROW = 256, 1 << 14, 64


def payments_for(features: int) -> NDArray[np.float64]:
    """Return an empty list. It is so long that `pay_all` visits at most `_FEATURES_A_ROW` features for each row,
    and takes little memory."""
    return np.zeros((min(max(features // _FEATURES_A_ROW, _FEWEST), _MOST), 2))


@part
def lag_of_payment(v, applied, lagged, l1_total, l1_lag, payments, count):
    """Return what the lag of a coefficient v loses by paying L1: ∫ C dA with the sign of v, until v is 0."""
    if v == 0.0:
        return 0.0
    until = l1_lag
    at_zero = applied + abs(v)
    if at_zero < l1_total:
        until = _lag_at(at_zero, payments, count)
    return math.copysign(until - lagged, v)


@part
def _lag_at(total, payments, count):
    """Return G as it was when A was `total`."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if payments[middle, 0] < total:
            low = middle + 1
        else:
            high = middle
    a, g = (payments[low - 1, 0], payments[low - 1, 1]) if low > 0 else (0.0, 0.0)
    return g + (total - a) * ((payments[low, 1] - g) / (payments[low, 0] - a))


@part
def note_payment(payments, count, l1_total, l1_lag):
    """Append to the list, if there is one; returns its length."""
    if len(payments) == 0:
        return count
    payments[count, 0], payments[count, 1] = l1_total, l1_lag
    return count + 1


@helper
def rescale_lags(sums, l1_lags, payments, now, factor):
    """Multiply all lags by the factor, for another reference of times."""
    now[BIAS_LAG] *= factor
    now[SCALE_LAG] *= factor
    now[L1_LAG] *= factor
    for i in range(len(sums)):
        if sums[i].imag != 0.0:  # memory that no row has needed is not touched
            sums[i] = complex(sums[i].real, sums[i].imag * factor)
    for i in range(len(l1_lags)):
        l1_lags[i] *= factor
    for k in range(len(payments)):
        payments[k, 1] *= factor


@part
def must_pay_all(now, payments):
    """Return whether all features have to pay now: the list is full, or S has become small."""
    return now[SCALE] < SMALLEST_SCALE or (now[PAYMENTS] > 0.0 and now[PAYMENTS] == len(payments))


@helper
def pay_all(pairs, sums, l1_applied, l1_lags, payments, now):
    """Apply lazy L1 and L2 in place: v becomes w, and lags become those of S = 1 and E = 0."""
    scale, l1_total, l1_lag = now[SCALE], now[L1_TOTAL], now[L1_LAG]
    for i in range(len(pairs)):
        v, lag = pairs[i].real, sums[i].imag if len(sums) > 0 else 0.0
        if len(l1_lags) > 0:
            count = np.int64(now[PAYMENTS])
            lag -= lag_of_payment(v, l1_applied[i], l1_lags[i], l1_total, l1_lag, payments, count)
        paid = soft(v, l1_total - l1_applied[i] if len(l1_applied) > 0 else 0.0)
        pairs[i] = complex(scale * paid, pairs[i].imag)
        if len(sums) > 0:
            sums[i] = complex(sums[i].real, lag - now[SCALE_LAG] * paid)
    l1_applied[:] = 0.0
    l1_lags[:] = 0.0
    payments[:] = 0.0
    now[SCALE] = 1.0
    now[L1_TOTAL] = now[L1_LAG] = now[SCALE_LAG] = now[PAYMENTS] = 0.0


def after_payment(
    v: NDArray[np.floating[Any]],
    lag: NDArray[np.floating[Any]],
    l1_applied: NDArray[np.float64],
    l1_lags: NDArray[np.float64],
    payments: NDArray[np.float64],
    state: NDArray[np.float64],
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return these coefficients and their lags as `pay_all` would leave them, in new arrays."""
    owing, lags = v.astype(np.float64), lag.astype(np.float64)
    if len(l1_lags):
        nodes = np.vstack(([[0.0, 0.0]], payments[: int(state[PAYMENTS])]))
        until = np.minimum(l1_applied + np.abs(owing), state[L1_TOTAL])
        lags -= np.sign(owing) * (np.interp(until, nodes[:, 0], nodes[:, 1]) - l1_lags)
    if len(l1_applied):
        left = np.maximum(np.abs(owing) - (state[L1_TOTAL] - l1_applied), 0.0)
        owing = np.copysign(left, owing)
    return (state[SCALE] * owing).astype(v.dtype), lags - state[SCALE_LAG] * owing
