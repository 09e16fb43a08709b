"""The parameters of an estimator → the settings of a model."""

from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from steelyard import losses
from steelyard.losses import Loss
from steelyard.model import Model, Settings

DEFAULT = Settings()
WEIGHT_SCALES = ("as_given", "mean_one")

_NUMBERS = ("initial_t", "power_t", "l1", "l2")
# What may change between two calls that go on with one model. The rest decides what its arrays hold.
_FREE = {"update", "learning_rate", "initial_t", "power_t"}
_FIXED = sorted({field.name for field in fields(Settings)} - _FREE)


def settings_of(estimator: Any, begun: Model | None) -> Settings:
    """The parameters, checked; with a model that was begun, also against what it was begun with."""
    if not isinstance(estimator.passes, Integral) or estimator.passes < 1:
        raise ValueError(f"passes must be a whole number, 1 or more; got {estimator.passes!r}")
    if estimator.weight_scale not in WEIGHT_SCALES:
        known = " or ".join(map(repr, WEIGHT_SCALES))
        raise ValueError(f"weight_scale must be {known}; got {estimator.weight_scale!r}")
    settings = learning_settings(estimator)
    if begun is not None:
        _check_unchanged(begun.settings, settings)
    return settings


def learning_settings(estimator: Any) -> Settings:
    """Those parameters, checked, that say how a model learns."""
    for name in _NUMBERS:
        if not isinstance(getattr(estimator, name), Real):
            raise TypeError(f"{name} must be a number; got {getattr(estimator, name)!r}")
    rate = estimator.learning_rate
    if rate is not None and not isinstance(rate, Real):
        raise TypeError(f"learning_rate must be a number, or None for the default of the loss; got {rate!r}")
    return Settings(
        loss=loss_of(estimator),
        update=estimator.update,
        scaling=estimator.scaling,
        learning_rate=None if rate is None else float(rate),
        l2_flow=estimator.l2_flow,
        bias=bool(estimator.fit_intercept),
        dtype=np.dtype(estimator.dtype).name,
        follow_labels=estimator._follow_labels,
        **{name: float(getattr(estimator, name)) for name in _NUMBERS},
    )


def loss_of(estimator: Any) -> Loss:
    """The loss, which may be given by name."""
    loss = estimator.loss
    if isinstance(loss, str):
        return losses.by_name(loss)
    if not isinstance(loss, Loss):
        hint = f"; give an instance, {loss.__name__}()" if isinstance(loss, type) else ""
        raise TypeError(f"loss must be a name or an instance of Loss; got {loss!r}{hint}")
    return loss


def _check_unchanged(old: Settings, new: Settings) -> None:
    for name in _FIXED:
        before, now = getattr(old, name), getattr(new, name)
        if before != now:
            parameter = "fit_intercept" if name == "bias" else name
            raise ValueError(
                f"the model was begun with {parameter}={before!r} and cannot go on with {now!r}: fit anew"
            )
