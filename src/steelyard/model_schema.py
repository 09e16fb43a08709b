"""Check model files before any part of them is used; convert settings to JSON and back.

A file may be damaged, or forged: then it is refused with a reason. No number in it may make a kernel read beyond
its arrays, or make a program allocate more than such a model takes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _field_types, losses
from steelyard._parameters import Message, Parameter
from steelyard.array_table import Arrays
from steelyard.learn import linear, origins
from steelyard.losses import Loss
from steelyard.settings import Settings

Test = Callable[[Any], bool]

MOST_FEATURES = 1 << 32
_MOST_MODELS = 1 << 20


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_listed(value: Any) -> bool:
    """Return whether it is an array as JSON: numbers or strings, and their type."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("dtype"), str)
        and value["dtype"].lstrip("<>=|")[:1] in tuple("biufUO")
        and isinstance(value.get("values"), list)
        and all(isinstance(each, bool | int | float | str) for each in value["values"])
    )


def _is_contest(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_count(value.get("classes"))
        and _is_count(value.get("first"))
        and isinstance(value.get("settings"), list)
        and 0 < len(value["settings"]) * max(value["classes"], 1) <= _MOST_MODELS
        and all(
            isinstance(each, dict) and all(number is None or _is_number(number) for number in each.values())
            for each in value["settings"]
        )
    )


def _is_calibration(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, list)
        and len(each) in (2, 3)
        and all(map(_is_number, each))
        and min(each[2:], default=0.0) >= 0.0
        for each in value
    )


def _is_summary(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


_METADATA: dict[str, Test] = {
    "features": lambda value: _is_count(value) and value <= MOST_FEATURES,
    "settings": lambda value: _is_dict(value) and _is_dict(value.get("loss")),
    "extra": _is_dict,
}
_EXTRA: dict[str, Test] = {
    "estimator": lambda value: isinstance(value, str),
    "parameters": _is_dict,
    "classes": _is_listed,
    "feature_names": _is_listed,
    "weight_summary": _is_summary,
    "weight_factor": lambda value: _is_number(value) and value > 0.0,
    "n_iter": _is_count,
    "reading": _is_dict,
    "calibration": _is_calibration,
    "training": _is_dict,
    "run": _is_dict,
    "errors": _is_number,
    "contest": _is_contest,
}


def check(about: dict[str, Any]) -> None:
    """Refuse metadata that no release has written, by a ValueError that says what is wrong."""
    for name, test in _METADATA.items():
        if not test(about.get(name)):
            raise ValueError(f"its metadata have no {name!r} that makes sense")
    for name, test in _EXTRA.items():
        if about["extra"].get(name) is not None and not test(about["extra"][name]):
            raise ValueError(f"its metadata have no {name!r} that makes sense")
    _check_classes(about["extra"])


def check_array(name: str, array: NDArray[Any]) -> None:
    """Refuse an array with NaN. Infinity is allowed: a loss in `state` may be infinite."""
    if array.dtype.kind not in "fiu" or np.isnan(array).any():
        raise ValueError(f"its array {name!r} has something that is not a number")


def _check_classes(extra: dict[str, Any]) -> None:
    """Refuse classes, or calibrations, that are not as many as the models."""
    classes, contest, calibration = extra.get("classes"), extra.get("contest"), extra.get("calibration")
    models = contest["classes"] if contest is not None and contest["classes"] > 2 else 1
    if models > 1 and classes is not None and len(classes["values"]) != models:
        raise ValueError(f"it has {models} classes but the names of {len(classes['values'])}")
    if calibration is not None and len(calibration) != models:
        raise ValueError(f"it has {models} models but probabilities for {len(calibration)}")


def check_columns(features: int, arrays: Arrays) -> None:
    """Refuse columns of numbers that are not among the features: kernels do not check them."""
    counts, columns, candidates = (arrays[name] for name in ("column_counts", "columns", "candidates"))
    if not (0 <= counts[0] <= len(columns) and 0 <= counts[1] <= len(candidates)):
        raise ValueError(f"it promises {counts.tolist()} columns of numbers and has fewer")
    for numbers in (columns[: counts[0]], candidates[: counts[1], origins.INDEX]):
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < features:
            raise ValueError("its columns of numbers are not among its features")
        if not np.array_equal(numbers, np.floor(numbers)):
            raise ValueError("its columns of numbers are no whole numbers")


def check_clock(state: NDArray[Any]) -> None:
    """Refuse a clock that kernels cannot count on from."""
    clock, fraction = float(state[linear.CLOCK]), float(state[linear.FRACTION])
    if not (clock >= 0.0 and 0.0 <= fraction < 1.0) or (fraction > 0.0 and clock != int(clock)):
        raise ValueError(f"its clock stands at {clock:g} and {fraction:g}")


def check_payments(arrays: Arrays) -> None:
    """Refuse a list of payments (see `learn.shrinkage`) that kernels cannot search."""
    payments, count = arrays["payments"], float(arrays["state"][linear.PAYMENTS])
    if not (count == int(count) and 0 <= count <= max(len(payments) - 1, 0)):
        raise ValueError(f"it promises {count:g} payments of L1 and has room for {len(payments)}")
    if (np.diff(payments[: int(count)], axis=0) < 0.0).any():
        raise ValueError("its payments of L1 do not rise")


def check_names(features: int, arrays: Arrays) -> None:
    """Refuse names with lengths that do not fit their text, or keys of features that do not exist."""
    kinds = {
        "index": "i8", "length": "i4", "text": "u1",
        "first": "i8", "first_key": "u4", "second": "i8", "second_key": "u4", "further_key": "u4",
    }  # fmt: skip
    stored = {name: arrays.get(f"names_{name}") for name in kinds}
    for name, kind in kinds.items():
        array = stored[name]
        if array is None or array.ndim != 1 or array.dtype != np.dtype(kind):
            raise ValueError(f"its array 'names_{name}' is missing or not of the right kind")
    named = {name: array for name, array in stored.items() if array is not None}
    for indices, values in (("index", "length"), ("first", "first_key"), ("second", "second_key")):
        if len(named[indices]) != len(named[values]):
            raise ValueError(f"its arrays 'names_{indices}' and 'names_{values}' do not fit")
        if len(named[indices]) and not 0 <= named[indices].min() <= named[indices].max() < features:
            raise ValueError(f"its array 'names_{indices}' names features that it does not have")
    if (named["length"] < 0).any() or named["length"].sum(dtype=np.int64) != len(named["text"]):
        raise ValueError("its names are longer or shorter than their text")


def settings_as_json(settings: Settings) -> dict[str, Any]:
    name = losses.name_of(settings.loss)
    loss = {"name": name or type(settings.loss).__name__, "own": name is None}
    return asdict(settings) | {"loss": loss | {"parameters": asdict(settings.loss)}}


def settings_from_json(path: Path, stored: dict[str, Any], loss: Loss | type[Loss] | None) -> Settings:
    known = {each.name for each in fields(Settings)}
    values = {"follow_labels": False, "follow_classes": False} | {
        name: value for name, value in stored.items() if name in known
    }
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
            Message(
                f"{path}: trained with the loss {stored['name']}({parameters}); give it: ",
                Parameter("loss", "module:Class", in_python="load(path, loss=…)"),
            )
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
