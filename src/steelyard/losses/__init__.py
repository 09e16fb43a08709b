"""The losses: one file each in this folder, where the registry finds them. Helpers begin with an underscore.

>>> from steelyard import losses
>>> losses.names()
['exponential', ..., 'tanh_logarithmic']
>>> loss = losses.by_name("quantile", tau=0.9)
>>> loss.flow(p=0.0, y=1.0, u=0.5)
0.45
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from steelyard._messages import did_you_mean
from steelyard._parameters import Message, Parameter
from steelyard.losses import _base, _labels, _solvers
from steelyard.losses._base import Loss
from steelyard.losses._labels import (  # fmt: skip
    PLUS_MINUS_ONE,
    REAL_LINE,
    UNIT_INTERVAL,
    ZERO_ONE,
    Interval,
    OneOf,
    class_labels,
    decision_point,
)
from steelyard.losses._solvers import LARGEST_EXPONENT, bounded_exp
from steelyard.losses._soundness import check_soundness

__all__ = [
    "LARGEST_EXPONENT", "PLUS_MINUS_ONE", "REAL_LINE", "UNIT_INTERVAL", "ZERO_ONE",
    "Interval", "Loss", "OneOf",
    "bounded_exp", "by_name", "check_soundness", "class_labels", "decision_point",
    "name_of", "names", "parameters",
]  # fmt: skip

# Losses that users wrote may still import these modules by their old names.
for _old_name, _module in (("base", _base), ("sets", _labels), ("special", _solvers)):
    sys.modules[f"{__name__}.{_old_name}"] = _module


def _name(cls: type[Loss]) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()


def _find() -> dict[str, type[Loss]]:
    """Return every class in this folder that defines a `value`, by name."""
    classes = {}
    for module_info in pkgutil.iter_modules(__path__):
        if module_info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for cls in vars(module).values():
            own = isinstance(cls, type) and cls.__module__ == module.__name__ and issubclass(cls, Loss)
            if own and cls.value is not Loss.value:
                classes[_name(cls)] = cls
    return dict(sorted(classes.items()))


_registry = _find()

# The names of losses in scikit-learn and other libraries
ALIASES = {"log_loss": "logistic", "log": "logistic", "squared_error": "squared", "squared_loss": "squared"}
# Hints for losses of other libraries that are not here
_HINTS = {
    "huber": "quantile is robust to outliers, and a loss of your own may be Huber's",
    "absolute_error": "quantile with tau 0.5 is half of it",
    "epsilon_insensitive": "quantile with tau 0.5 is half of the absolute error",
    "squared_epsilon_insensitive": "squared is the nearest",
    "squared_hinge": "modified_huber is the same down to a margin of -1, and straight beyond",
    "perceptron": "hinge is the nearest",
    "poisson": "a loss of your own may be it",
}


def names() -> list[str]:
    """The names of all losses."""
    return list(_registry)


def parameters(name: str) -> dict[str, float]:
    """The parameters of the loss called `name`, with their defaults."""
    loss = by_name(name)
    return {field.name: getattr(loss, field.name) for field in fields(loss)}


def by_name(name: str, **params: float) -> Loss:
    """The loss called `name`, with the given parameters."""
    cls = _registry.get(ALIASES.get(name, name))
    if cls is None:
        hint = f"; {_HINTS[name]}" if name in _HINTS else did_you_mean(name, names())
        raise ValueError(f"there is no loss {name!r}; the losses are {', '.join(names())}{hint}")
    known = [field.name for field in fields(cls)]
    for param in params:
        if param not in known:
            takes = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            named = Parameter(param, in_python=f"parameter {param!r}")
            raise ValueError(Message(f"the loss {name!r} has no ", named, f"; {takes}", *_takers(param)))
    return cls(**params)


def _takers(param: str) -> Iterator[str | Parameter]:
    """The end of a message that says which loss has a parameter of this name; nothing if none has."""
    for name, cls in _registry.items():
        if param in (field.name for field in fields(cls)):
            yield "; it belongs to "
            yield Parameter("loss", name, in_python=f"a loss, loss=losses.by_name({name!r}, {param}=…)")
            return


def name_of(loss: Loss) -> str | None:
    """The name under which `by_name` finds the class of this loss; None for a user's own."""
    name = _name(type(loss))
    return name if _registry.get(name) is type(loss) else None


def __getattr__(name: str) -> Any:
    """Return a class by its own name: `losses.Quantile(tau=0.9)`."""
    for cls in _registry.values():
        if cls.__name__ == name:
            return cls
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *(cls.__name__ for cls in _registry.values())])
