"""`learning_rate="auto"`: its candidates, and the mixture with which several of them answer.

Candidates are the default rate and its neighbours, chosen so that their answer comes close to the best of a
large grid, on the sets in `benchmarks/support`: see docs/auto-rate.md. With standardized scaling all of them
answer together; with other scalings the best by progressive loss answers, and some candidates decay.

The mixture is one linear model, whose coefficients are weighted means of theirs. A setting that has made E wrong
predictions more than the best so far has the share exp(−η·E) (before normalising), with η = √(2·log K/E₀) for K
settings and the E₀ wrong predictions of the best: differences that may be due to chance hardly count, larger ones
decide (Freund and Schapire's exponential weights). Regression has no wrong predictions: there losses count, in
units of the mean loss of the best. All figures are weighted, and of the first pass, from just before each row was
learned.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard._array_types import Floats
from steelyard._parameters import Message, Parameter, bare
from steelyard.engine.frozen_models import frozen_settings, frozen_state
from steelyard.model import Model
from steelyard.settings import Settings

# Multiples of the default rate, power_t and initial_t. The first answers wherever it is as good.
CANDIDATES = (
    (1.0, 0.0, 1.0), (0.5, 0.0, 1.0), (2.0, 0.0, 1.0),
    (1.0, 0.25, 100.0), (2.0, 0.25, 100.0), (4.0, 0.25, 100.0),
)  # fmt: skip
# With standardized scaling decays do not help: these answer together.
MIXED = tuple((2.0**power, 0.0, 1.0) for power in (0, -1, 1, -2, 2))
# Without scale-free rates the default rate is only a starting point.
WIDE_RANGE = tuple((4.0**power, 0.0, 1.0) for power in (0, -1, 1, -2, -3, -4))


def candidates(settings: Settings, begun: Sequence[Settings] | None = None) -> list[Settings]:
    """Return the settings that compete; settings that have begun keep their schedules."""
    if settings.power_t != 0.0:
        raise ValueError(
            Message(
                Parameter("learning_rate", "auto"), " tries several decays itself: leave ", bare("power_t"),
                f" at 0; got {settings.power_t!r}",
            )
        )  # fmt: skip
    rates = {"normalized": CANDIDATES, "standardized": MIXED}.get(settings.scaling, WIDE_RANGE)
    schedules = [(settings.rate * factor, *decay) for factor, *decay in rates]
    if begun is not None:
        schedules = [(each.rate, each.power_t, each.initial_t) for each in begun]
    return [
        replace(settings, learning_rate=rate, power_t=power_t, initial_t=initial_t)
        for rate, power_t, initial_t in schedules
    ]


def shares(mistakes: Floats, alive: Floats) -> Floats:
    """Return the share of each setting; `mistakes` are counted in rows, and `alive` is 0 for diverged settings."""
    counted = np.where(alive > 0.0, mistakes, np.inf)
    fewest = counted.min()
    if not np.isfinite(fewest):
        return np.full(len(counted), 1.0 / len(counted))
    eta = np.sqrt(2.0 * np.log(len(counted)) / max(fewest, 1.0))
    weights = np.exp(-eta * (counted - fewest))
    return np.asarray(weights / weights.sum())


def in_rows(losses: Floats, weight: float) -> Floats:
    """Express sums of losses as numbers of mistakes: in units of the mean loss of the best."""
    best = np.nanmin(losses) if np.isfinite(losses).any() else 0.0
    if not best > 0.0:
        return np.where(losses > 0.0, np.inf, 0.0)
    return np.asarray(losses / best * weight)


def mixed(models: Sequence[Model], parts: Floats, answering: Model) -> Model:
    """Return the weighted mean of these models, with the clock and the progressive figures of one of them."""
    mean = Model(frozen_settings(answering.settings), answering.features)
    used = [(model, part) for model, part in zip(models, parts.tolist(), strict=True) if part > 0.0]
    total = np.zeros(answering.features)
    bias = 0.0
    for model, part in used:
        total += part * model.coefficients().astype(np.float64)
        bias += part * model.bias
    mean.raw_coefficients[:] = total
    mean.state[:] = frozen_state(answering, bias)
    return mean
