"""The mixture with which several learning rates answer (`learning_rate="auto"`): one linear model.

A mean of linear models is a linear model: its coefficients are the means of theirs. A setting that has made
E wrong predictions more than the best so far has the share exp(−η·E), and η = √(2·log K/E₀) for K settings
and the E₀ wrong predictions of the best: what is a mere chance by that measure does not decide, and what is
more than that does (Freund and Schapire's exponential weights). Of numbers, which are not right or wrong, the
losses count in units of the mean loss of the best. All of it is counted by weight, in the first pass, before
the row was learned.
"""

from collections.abc import Sequence

import numpy as np

from steelyard.engine.protocol import Column
from steelyard.engine.still_models import still_settings, still_state
from steelyard.model import Model


def shares(mistakes: Column, alive: Column) -> Column:
    """The share of each setting; `mistakes` are counted in rows, and `alive` is 0 for what has diverged."""
    counted = np.where(alive > 0.0, mistakes, np.inf)
    fewest = counted.min()
    if not np.isfinite(fewest):
        return np.full(len(counted), 1.0 / len(counted))
    eta = np.sqrt(2.0 * np.log(len(counted)) / max(fewest, 1.0))
    weights = np.exp(-eta * (counted - fewest))
    return np.asarray(weights / weights.sum())


def in_rows(losses: Column, weight: float) -> Column:
    """Sums of losses as if they were mistakes: in units of the mean loss of the best."""
    best = np.nanmin(losses) if np.isfinite(losses).any() else 0.0
    if not best > 0.0:
        return np.where(losses > 0.0, np.inf, 0.0)
    return np.asarray(losses / best * weight)


def mixed(models: Sequence[Model], parts: Column, answering: Model) -> Model:
    """The mean of these models by their parts, with the clock and the progressive figures of one of them."""
    mean = Model(still_settings(answering.settings), answering.features)
    used = [(model, part) for model, part in zip(models, parts.tolist(), strict=True) if part > 0.0]
    total = np.zeros(answering.features)
    bias = 0.0
    for model, part in used:
        total += part * model.coefficients().astype(np.float64)
        bias += part * model.bias
    mean.raw_coefficients[:] = total
    mean.state[:] = still_state(answering, bias)
    return mean
