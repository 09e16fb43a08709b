"""Parameters typed out of habit, and options of the command line: errors say what to use in Python."""

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from typing import Any, ParamSpec

from steelyard import losses
from steelyard._messages import GONE, did_you_mean

P = ParamSpec("P")

_PENALTY = "use l1=… and l2=…, two numbers that are 0 by default"
_STOPPING = "early_stopping=True stops when rows held out are predicted no better"
ANSWERS = {
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


def answer_habits(init: Callable[P, None]) -> Callable[P, None]:
    """For `__init__`, whose signature stays. The error is a TypeError, as for any unknown parameter."""
    known = inspect.signature(init).parameters

    @wraps(init)
    def wrapper(*given: P.args, **named: P.kwargs) -> None:
        for name in named:
            if name not in known:
                raise TypeError(f"{type(given[0]).__name__} has no parameter {name!r}{_answer(name, known)}")
        init(*given, **named)

    return wrapper


def _answer(name: str, known: Collection[str]) -> str:
    of_losses = [
        loss for loss in losses.names() if name in (field.name for field in fields(losses.by_name(loss)))
    ]
    if name in ANSWERS:
        return f": {ANSWERS[name]}"
    if of_losses:
        return f": it belongs to a loss, loss=losses.by_name({of_losses[0]!r}, {name}=…)"
    return did_you_mean(name, [each for each in known if each != "self"])


def answer_unknown(estimator: Any, names: Any) -> None:
    """The same for `set_params`, whose errors are ValueErrors."""
    for name in names:
        if name in ANSWERS and name not in estimator.get_params():
            raise ValueError(f"{type(estimator).__name__} has no parameter {name!r}{_answer(name, ())}")


def in_python(text: str) -> str:
    """What is said about `--on-error`, about the parameter `on_error`."""
    text = re.sub(r"--[a-z-]+ [A-Z]+ \(in Python: ([^)]+)\)", r"\1", text)
    return re.sub(r"--([a-z][a-z0-9-]+)", lambda found: f"`{found[1].replace('-', '_')}`", text)


@contextmanager
def options_as_parameters() -> Iterator[None]:
    """Readers of files speak of options: here `--on-error` is called `on_error`."""
    try:
        yield
    except ValueError as error:
        said = in_python(str(error))
        if said == str(error) or isinstance(error, UnicodeError):
            raise
        raise type(error)(said) from error
