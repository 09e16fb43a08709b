"""The query strategies: which labels to ask for. Each is one class in one file of this folder.

To add one, add a file with a subclass of `Strategy`; the file's name is the strategy's name, and
`ActiveClassifier`, the simulation and the command line find it. Importing this package loads none of them.

>>> from steelyard.active import strategies
>>> strategies.names()
['iwal', 'margin', 'random', 'relevance']
>>> strategies.by_name("margin").randomized
False
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from steelyard._messages import did_you_mean

if TYPE_CHECKING:
    from steelyard.active.strategies._base import Strategy

DEFAULT = "iwal"


def names() -> list[str]:
    return [found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_")]


def by_name(name: str) -> "Strategy":
    if name not in names():
        hint = did_you_mean(name, names())
        raise ValueError(f"there is no strategy {name!r}; the strategies are {', '.join(names())}{hint}")
    module = importlib.import_module(f"{__name__}.{name}")
    from steelyard.active.strategies._base import Strategy

    (cls,) = (
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Strategy) and each.__module__ == module.__name__
    )
    return cls()


def from_description(given: dict[str, Any]) -> "Strategy":
    """The strategy that a journal describes: its name and parameters."""
    strategy = by_name(given["name"])
    vars(strategy).update({name: value for name, value in given.items() if name != "name"})
    return strategy


def name_of(strategy: "Strategy") -> str:
    """The name under which `by_name` finds this strategy; the name of its class if it is a user's own."""
    package, _, module = type(strategy).__module__.rpartition(".")
    return module if package == __name__ else type(strategy).__name__
