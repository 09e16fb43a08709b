"""Turn the parameters of an estimator into the settings of models."""

import copy
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from steelyard import losses
from steelyard._field_types import is_number
from steelyard.engine.auto_rate import candidates
from steelyard.estimators import fit_passes
from steelyard.losses import Loss
from steelyard.schedules import AUTO
from steelyard.settings import Settings

DEFAULT = Settings()
WEIGHT_SCALES = ("auto", "as_given", "mean_one")

_SWITCHES = ("fit_intercept", "shuffle", "early_stopping", "calibrate", "warm_start")
_NUMBERS = ("initial_t", "power_t", "l1", "l2")
# Settings that may change between two calls for one model. The others decide what its arrays hold.
_FREE = {"update", "learning_rate", "initial_t", "power_t"}
_FIXED = sorted({field.name for field in fields(Settings)} - _FREE)

# The parameters over which a sweep can go: those of models. (The others are about rows.)
SWEPT = tuple("fit_intercept" if field.name == "bias" else field.name for field in fields(Settings))
SWEPT = tuple(name for name in SWEPT if name not in ("follow_labels", "follow_classes"))


def settings_of(estimator: Any, begun: list[Settings] | None) -> list[Settings]:
    """Return the settings of one model, or of all that compete with `learning_rate="auto"`; parameters are checked.

    `begun` are the settings of models that continue: they must agree.
    """
    fit_passes.check(estimator)
    if estimator.weight_scale not in WEIGHT_SCALES:
        known = ", ".join(map(repr, WEIGHT_SCALES))
        raise ValueError(f"weight_scale must be one of {known}; got {estimator.weight_scale!r}")
    auto = isinstance(estimator.learning_rate, str) and estimator.learning_rate == AUTO
    settings = learning_settings(estimator, auto=auto)
    if begun is not None:
        old = begun[0]  # these two are not parameters
        settings = replace(settings, follow_labels=old.follow_labels, follow_classes=old.follow_classes)
        _check_unchanged(begun, settings, auto)
    return candidates(settings, begun) if auto else [settings]


def learning_settings(estimator: Any, auto: bool | None = None) -> Settings:
    """Return the settings of one model; `auto`: whether its rate is found out, None if the estimator cannot do that."""
    for name in _SWITCHES:
        if not isinstance(given := getattr(estimator, name, False), bool | np.bool_):
            raise TypeError(f"{name} must be True or False; got {given!r}")
    for name in _NUMBERS:
        if not is_number(getattr(estimator, name)):
            raise TypeError(f"{name} must be a number; got {getattr(estimator, name)!r}")
    rate = None if auto else estimator.learning_rate
    if rate is not None and not is_number(rate):
        default = "None for the default of the loss"
        rules = f"or {default}" if auto is None else f"{default}, or {AUTO!r} for the best of several"
        raise TypeError(f"learning_rate must be a number, {rules}; got {rate!r}")
    return Settings(
        loss=loss_of(estimator),
        update=estimator.update,
        scaling=estimator.scaling,
        learning_rate=None if rate is None else float(rate),
        average=getattr(estimator, "average", None),
        bias=bool(estimator.fit_intercept),
        dtype=np.dtype(estimator.dtype).name,
        follow_labels=not is_classifier(estimator),  # labels of classes are codes
        follow_classes=True,
        **{name: float(getattr(estimator, name)) for name in _NUMBERS},
    )


def swept(estimator: Any, params: Mapping[str, Any]) -> Settings:
    """Return the settings of the estimator with some of its parameters changed."""
    changed = copy.copy(estimator)
    for name, value in params.items():
        setattr(changed, name, value)
    settings, *others = settings_of(changed, None)
    if others:
        raise ValueError(f"learning_rate={AUTO!r} is a sweep by itself: name the learning rates to compare")
    return settings


def loss_of(estimator: Any) -> Loss:
    """Return the loss, which may be given by name."""
    loss = estimator.loss
    if isinstance(loss, str):
        return losses.by_name(loss)
    if not isinstance(loss, Loss):
        hint = f"; give an instance, {loss.__name__}()" if isinstance(loss, type) else ""
        raise TypeError(f"loss must be a name or an instance of Loss; got {loss!r}{hint}")
    return loss


def _check_unchanged(old: list[Settings], new: Settings, auto: bool) -> None:
    if auto != (len(old) > 1):
        one, several = "one learning rate", f"learning_rate={AUTO!r}"
        before, after = (one, several) if auto else (several, one)
        raise ValueError(f"the model was begun with {before} and cannot continue with {after}: fit a new one")
    for name in _FIXED:
        before, now = getattr(old[0], name), getattr(new, name)
        if before != now:
            parameter = "fit_intercept" if name == "bias" else name
            raise ValueError(
                f"the model was begun with {parameter}={before!r} and cannot continue with {now!r}: "
                "fit a new one"
            )
