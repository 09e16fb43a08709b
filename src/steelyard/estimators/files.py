"""Estimators in model files: what a model does not know of them is kept beside it, as JSON."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import losses
from steelyard.engine import selection_files
from steelyard.engine.selection import Selection
from steelyard.engine.solo import Solo
from steelyard.features.names import Names
from steelyard.io import input_spec as readings
from steelyard.losses import Loss
from steelyard.weight_summary import WeightSummary


def save(estimator: Any, engine: Solo | Selection, path: str | Path) -> None:
    """Parameters and fitted attributes go beside the models. (The loss is in them.)"""
    parameters = estimator.get_params(deep=False)
    del parameters["loss"]
    if isinstance(parameters.get("class_weight"), dict):
        parameters["class_weight"] = [
            [_plain(key), float(w)] for key, w in parameters["class_weight"].items()
        ]
    if not isinstance(parameters["random_state"], int):
        parameters["random_state"] = None  # a generator's own state is not worth keeping
    extra = {
        "estimator": type(estimator).__name__,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "classes": _listed(getattr(estimator, "classes_", None)),
        "feature_names": _listed(getattr(estimator, "feature_names_in_", None)),
        "weight_summary": asdict(estimator.weight_summary_),
        "n_iter": int(estimator.n_iter_),
    }
    if hasattr(estimator, "reading_"):
        extra["reading"] = estimator.reading_.as_json()  # with which the command line reads what it predicts
    if isinstance(engine, Selection):
        selection_files.save(engine, path, extra)
    else:
        names = getattr(estimator, "_names", None)
        engine.save(path, extra, {} if names is None else names.arrays())


def load(cls: type[Any], path: str | Path, loss: Loss | None) -> Any:
    """An estimator of this class, as fitted as it was."""
    model, extra, arrays = selection_files.load(path, loss)
    if extra.get("estimator") != cls.__name__:
        if "estimator" in extra:
            raise ValueError(f"{path}: holds an {extra['estimator']}, not an {cls.__name__}")
        raise ValueError(f"{path}: holds a model without an estimator; steelyard.model.load reads it")
    parameters = extra["parameters"]
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    engine = model if isinstance(model, Selection) else Solo(model, _errors(extra))
    estimator = cls(_name_or_loss(engine.settings[0].loss), **parameters)
    estimator._engine = engine
    estimator.n_features_in_ = model.features
    estimator.n_iter_ = extra["n_iter"]
    estimator.weight_summary_ = WeightSummary(**extra["weight_summary"])
    if "reading" in extra:
        estimator.reading_ = readings.from_json(extra["reading"])
    if "names_index" in arrays:
        estimator._names = Names.from_arrays(model.features, arrays)
    for attribute, kept in (("classes_", extra["classes"]), ("feature_names_in_", extra["feature_names"])):
        if kept is not None:
            setattr(estimator, attribute, np.array(kept["values"], dtype=kept["dtype"]))
    return estimator


def _listed(array: Any) -> dict[str, Any] | None:
    if array is None:
        return None
    if array.dtype.kind not in "biufUO" or not all(
        isinstance(v, bool | int | float | str) for v in array.tolist()
    ):
        raise TypeError(f"only classes that are numbers or strings can be saved; these are {array.tolist()}")
    return {"dtype": array.dtype.str, "values": array.tolist()}


def _plain(value: Any) -> Any:
    """NumPy's numbers, and types such as numpy.float32, as JSON can hold them."""
    if isinstance(value, type):
        return np.dtype(value).name
    return value.item() if isinstance(value, np.generic) else value


def _name_or_loss(loss: Loss) -> str | Loss:
    name = losses.name_of(loss)
    return name if name is not None and losses.by_name(name) == loss else loss


def _errors(extra: dict[str, Any]) -> float:
    """NaN for a file of the days before they were counted."""
    errors = extra.get("errors")
    return np.nan if errors is None else float(errors)
