"""Grids: what is to be tried, as a dict of lists or several of them, and the settings that come of it.

>>> from steelyard.model import Settings
>>> from steelyard.sweep import grid
>>> axes = {"loss": ["squared", "hinge"], "update": ["second_order", "invariant"]}
>>> expanded = grid.expand(Settings(), axes)
>>> [(point.params["loss"], point.params["update"]) for point in expanded.points]
[('squared', 'second_order'), ('squared', 'invariant'), ('hinge', 'invariant')]
>>> expanded.notes
['1 combination left out: Hinge has no second_order update: ...']
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from steelyard import losses
from steelyard._messages import GONE, counted, did_you_mean
from steelyard._parameters import Message, Parameter, message_of
from steelyard.losses import Loss
from steelyard.model import Settings

Grid = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Iterable[Any]]]
NAMES = tuple(field.name for field in fields(Settings))
_NUMBERS = ("learning_rate", "initial_t", "power_t", "l1", "l2")


@dataclass(frozen=True)
class Point:
    """One combination: what the grid says of it, and all that decides how its model learns."""

    params: dict[str, Any]
    settings: Settings


@dataclass(frozen=True)
class Expanded:
    """The points of a grid, and what there is to say about those that are not among them."""

    points: list[Point]
    notes: list[str]


def expand(
    base: Settings | Callable[[dict[str, Any]], Settings], grid: Grid, names: Sequence[str] = NAMES
) -> Expanded:
    """Every combination of the values of each dict; what it does not name is as in `base`.

    A combination that cannot be is left out and noted if other ones have its values, else it is an error.
    Where parameters, called by these `names`, are not those of `Settings`, the base is a function that makes
    settings of them.
    """
    make = partial(settings_with, base) if isinstance(base, Settings) else base
    points: list[Point] = []
    known: set[Settings] = set()
    refused: Counter[Message] = Counter()
    repeated = 0
    for axes in _dicts(grid, names):
        works: set[tuple[str, int]] = set()
        reasons: dict[tuple[str, int], Message] = {}
        for places in itertools.product(*(range(len(values)) for values in axes.values())):
            chosen = list(zip(axes, places, strict=True))
            params = {name: axes[name][place] for name, place in chosen}
            try:
                settings = make(params)
            except ValueError as error:
                refused[message_of(error)] += 1
                reasons = dict.fromkeys(chosen, message_of(error)) | reasons
                continue
            works.update(chosen)
            if settings in known:
                repeated += 1
                continue
            known.add(settings)
            points.append(Point(params, settings))
        for name, values in axes.items():
            for place, value in enumerate(values):
                if (name, place) not in works:  # a value that is good for nothing is a mistake
                    shown = losses.name_of(value) or value if isinstance(value, Loss) else value
                    given = Parameter(name, shown, in_python=f"{name}={value!r}")
                    raise ValueError(
                        Message(
                            "the grid has ", given, ", which no combination allows: ", reasons[name, place]
                        )
                    )
    notes: list[str] = [
        Message(f"{counted(count, 'combination')} left out: ", reason) for reason, count in refused.items()
    ]
    if repeated:
        notes.append(f"{counted(repeated, 'combination')} left out: the grid has the same settings elsewhere")
    return Expanded(points, notes)


def settings_with(base: Settings, params: Mapping[str, Any]) -> Settings:
    """The settings with some of them changed; a loss may be given by its name."""
    changed = dict(params)
    loss = changed.get("loss", base.loss)
    if isinstance(loss, str):
        changed["loss"] = losses.by_name(loss)
    elif not isinstance(loss, Loss):
        raise TypeError(f"the grid has the loss {loss!r}: give a name or an instance of Loss")
    for name in _NUMBERS:
        if changed.get(name) is not None:
            changed[name] = float(changed[name])
    return replace(base, **changed)


def _dicts(grid: Grid, names: Sequence[str]) -> list[dict[str, list[Any]]]:
    """The grid as dicts of lists, looked through."""
    several = [grid] if isinstance(grid, Mapping) else list(grid)
    if not several:
        raise ValueError("the grid is empty: name what to try, as in {'learning_rate': [0.1, 1.0]}")
    return [{name: _values(name, values, names) for name, values in each.items()} for each in several]


def _values(name: str, values: Any, names: Sequence[str]) -> list[Any]:
    if name in GONE:
        raise ValueError(f"the grid has {name!r}: {GONE[name]}")
    if name not in names:
        raise ValueError(
            f"the grid has {name!r}, over which there is no sweep; it goes over {', '.join(names)}"
            f"{did_you_mean(name, names)}"
        )
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"the grid has {name}={values!r}: give a list of values, [{values!r}]")
    listed = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not listed:
        raise ValueError(f"the grid has no value for {name}: give one or more, or leave it out")
    return listed
