"""Estimators in model files. What a model does not know of them is kept beside it, as JSON."""

from pathlib import Path
from typing import Any

import numpy as np

from steelyard import losses, model_file
from steelyard._messages import GONE
from steelyard.engine import class_weights, progressive_calibration, protocol
from steelyard.engine.protocol import Engine
from steelyard.losses import Loss
from steelyard.model_file import ModelFile
from steelyard.settings import Settings
from steelyard.weight_summary import NOTHING


def save(estimator: Any, engine: Engine, path: str | Path) -> None:
    """Parameters and fitted attributes go beside the models. (The loss is in them.)"""
    model_file.save(path, describe(estimator, engine))


def describe(estimator: Any, engine: Engine) -> ModelFile:
    parameters = estimator.get_params(deep=False)
    del parameters["loss"]
    if "class_weight" in parameters:
        parameters["class_weight"] = class_weights.as_json(parameters["class_weight"])
    if not isinstance(parameters["random_state"], int):
        parameters["random_state"] = None  # a generator's own state is not worth keeping
    spec = getattr(estimator, "input_spec_", None)
    return ModelFile(
        engine.state(),
        spec=None if spec is None else spec.as_json(),
        names=getattr(estimator, "_names", None),
        class_names=getattr(estimator, "classes_", None),
        feature_names=getattr(estimator, "feature_names_in_", None),
        estimator=type(estimator).__name__,
        parameters={name: _plain(value) for name, value in parameters.items()},
        weight_summary=estimator.weight_summary_,
        weight_factor=getattr(estimator, "weight_factor_", 1.0),
        n_iter=int(estimator.n_iter_),
        calibration=getattr(estimator, "calibration_", None),
        progressive_calibration={} if estimator._calibration is None else estimator._calibration.arrays(),
    )


def load(cls: type[Any], path: str | Path, loss: Loss | None) -> Any:
    """An estimator of this class, as fitted as the file is."""
    content, engine = protocol.load(path, loss)
    settings = engine.settings[0]
    if content.estimator is not None and content.estimator != cls.__name__:
        raise ValueError(f"{path}: holds an {content.estimator}, not an {cls.__name__}")
    spec = None if content.spec is None else _spec(content, path)
    classes = content.class_names
    if classes is None and content.estimator is None:
        from steelyard.engine.file_labels import class_names_of

        classes = class_names_of(content, spec)
    if (classes is None) != (cls.__name__ == "OnlineRegressor"):
        holds, reader = ("numbers", "OnlineRegressor") if classes is None else ("classes", "OnlineClassifier")
        raise ValueError(f"{path}: holds a model of {holds}: {reader}.load reads it")
    parameters = {name: value for name, value in content.parameters.items() if name not in GONE}
    if content.estimator is None:
        parameters = _parameters(settings, content, auto=len(engine.settings) > 1)
    if "class_weight" in parameters:
        parameters["class_weight"] = class_weights.from_json(parameters["class_weight"])
    if cls.__name__ == "OnlineRegressor":
        for name in ("class_weight", "calibrate"):
            parameters.pop(name, None)
    try:
        estimator = cls(_name_or_loss(settings.loss), **parameters)
    except TypeError as error:
        raise ValueError(f"{path}: not a model file, or a damaged one ({error})") from None
    estimator._engine = engine
    estimator.n_features_in_ = engine.features
    estimator.n_iter_ = content.n_iter
    estimator.weight_summary_ = content.weight_summary or NOTHING
    # of a model that the command line has trained, it is part of how files are read
    estimator.weight_factor_ = content.weight_factor if spec is None else spec.weight_factor
    fitted = {
        "classes_": classes,
        "feature_names_in_": content.feature_names,
        "input_spec_": spec,
        "_calibration": None
        if classes is None
        else progressive_calibration.load(content, path, len(classes)),
        "_held_out_calibration": None if content.progressive_calibration else content.calibration,
        "_names": content.names,
    }
    for name, value in fitted.items():
        if value is not None:
            setattr(estimator, name, value)
    return estimator


def _spec(content: ModelFile, path: str | Path) -> Any:
    # not at the top: estimators of rows do without readers
    from steelyard.engine.file_rows import spec_of

    return spec_of(content, path)


def _parameters(settings: Settings, content: ModelFile, *, auto: bool) -> dict[str, Any]:
    """Those of an estimator that goes on as a model of the command line, or a learner, would."""
    names = (
        "update",
        "scaling",
        "learning_rate",
        "initial_t",
        "power_t",
        "l1",
        "l2",
        "average",
        "dtype",
    )
    parameters = {name: getattr(settings, name) for name in names}
    if auto:
        parameters |= {"learning_rate": "auto", "power_t": 0.0, "initial_t": Settings().initial_t}
    parameters |= {
        "fit_intercept": settings.bias,
        "passes": content.n_iter,
        "calibrate": content.calibration is not None,
    }
    return parameters | {
        name: content.parameters[name] for name in ("class_weight",) if name in content.parameters
    }


def _plain(value: Any) -> Any:
    """NumPy's numbers, and types such as numpy.float32, as JSON can hold them."""
    if isinstance(value, type):
        return np.dtype(value).name
    return value.item() if isinstance(value, np.generic) else value


def _name_or_loss(loss: Loss) -> str | Loss:
    name = losses.name_of(loss)
    return name if name is not None and losses.by_name(name) == loss else loss
