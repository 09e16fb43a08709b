"""What to use instead of parameters that other libraries or earlier releases have, or that are misspelt."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import fields
from functools import wraps
from typing import Any, ParamSpec

from steelyard import losses
from steelyard._messages import GONE, did_you_mean

P = ParamSpec("P")

_PENALTY = "use l1=… and l2=…, two numbers that are 0 by default"
_STOPPING = "early_stopping=True stops when rows held out are predicted no better"
HINTS = {
    "penalty": _PENALTY,
    "alpha": _PENALTY,
    "l1_ratio": _PENALTY,
    "C": _PENALTY + ", and grow with the strength of the penalty",
    "max_iter": f"use passes=…; {_STOPPING}",
    "n_iter": f"use passes=…; {_STOPPING}",
    "tol": _STOPPING,
    "n_iter_no_change": _STOPPING,
    "eta0": "use learning_rate=…, the rate at the start; initial_t and power_t make it fall",
    "n_jobs": "rows are learned one after another, by one thread; Sweep learns many settings at once, and "
    "fit_files(threads=…) reads files with several",
    "epsilon": "it is a parameter of a loss: quantile loss, which has none, is robust to outliers, and "
    "loss may be your own",
    "solver": "there is one way to learn; update=… and scaling=… vary it",
    "multi_class": "more than two classes are learned one against the rest",
    "intercept_scaling": "the intercept is not penalised; fit_intercept=False leaves it out",
    "bias": "use fit_intercept=…",
    **GONE,
}


def hint_unknown(init: Callable[P, None]) -> Callable[P, None]:
    """For `__init__`, whose signature stays. The error is a TypeError, as for any unknown parameter."""
    known = inspect.signature(init).parameters

    @wraps(init)
    def wrapper(*given: P.args, **named: P.kwargs) -> None:
        for name in named:
            if name not in known:
                raise TypeError(f"{type(given[0]).__name__} has no parameter {name!r}{_hint(name, known)}")
        init(*given, **named)

    return wrapper


def _hint(name: str, known: Collection[str]) -> str:
    of_losses = [
        loss for loss in losses.names() if name in (field.name for field in fields(losses.by_name(loss)))
    ]
    if name in HINTS:
        return f": {HINTS[name]}"
    if of_losses:
        return f": it belongs to a loss, loss=losses.by_name({of_losses[0]!r}, {name}=…)"
    return did_you_mean(name, [each for each in known if each != "self"])


def check_names(estimator: Any, names: Any) -> None:
    """The same for `set_params`, whose errors are ValueErrors."""
    for name in names:
        if name in HINTS and name not in estimator.get_params():
            raise ValueError(f"{type(estimator).__name__} has no parameter {name!r}{_hint(name, ())}")
