"""Settings, losses and names as the JSON of a model file, and back."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _field_types, losses
from steelyard.losses import Loss
from steelyard.model import Settings


def settings_as_json(settings: Settings) -> dict[str, Any]:
    name = losses.name_of(settings.loss)
    loss = {"name": name or type(settings.loss).__name__, "own": name is None}
    return asdict(settings) | {"loss": loss | {"parameters": asdict(settings.loss)}}


def settings_from_json(path: Path, stored: dict[str, Any], loss: Loss | type[Loss] | None) -> Settings:
    known = {each.name for each in fields(Settings)}
    values = {"follow_labels": False} | {name: value for name, value in stored.items() if name in known}
    settings = Settings(**values | {"loss": _loss(path, stored["loss"], loss)})
    _field_types.check(settings)
    return settings


def _loss(path: Path, stored: dict[str, Any], given: Loss | type[Loss] | None) -> Loss:
    if not stored["own"]:
        return losses.by_name(stored["name"], **stored["parameters"])
    if isinstance(given, type) and set(stored["parameters"]) == {each.name for each in fields(given)}:
        given = given(**stored["parameters"])
    same = isinstance(given, Loss) and type(given).__name__ == stored["name"]
    if not isinstance(given, Loss) or not same or asdict(given) != stored["parameters"]:
        parameters = ", ".join(f"{name}={value}" for name, value in stored["parameters"].items())
        raise ValueError(
            f"{path}: trained with the loss {stored['name']}({parameters}); give it: load(path, loss=…), "
            "or on the command line --loss module:Class"
        )
    return given


def listed(array: NDArray[Any] | None) -> dict[str, Any] | None:
    if array is None:
        return None
    values: Sequence[Any] = array.tolist()
    if array.dtype.kind not in "biufUO" or not all(isinstance(v, bool | int | float | str) for v in values):
        raise TypeError(f"only classes that are numbers or strings can be saved; these are {values}")
    return {"dtype": array.dtype.str, "values": values}


def array(listed: dict[str, Any] | None) -> NDArray[Any] | None:
    return None if listed is None else np.array(listed["values"], dtype=listed["dtype"])
