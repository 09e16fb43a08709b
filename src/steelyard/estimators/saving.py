"""Estimators in model files: parameters and fitted attributes are stored beside the models, as JSON."""

from pathlib import Path
from typing import Any

import numpy as np

from steelyard import losses, model_file
from steelyard._messages import GONE
from steelyard.engine import class_weights, progressive_calibration, protocol
from steelyard.engine.protocol import Engine
from steelyard.estimators.fitted import FittedState, fitted_state, set_state
from steelyard.losses import Loss
from steelyard.model_file import ModelFile
from steelyard.settings import Settings
from steelyard.weight_summary import NOTHING


def save(estimator: Any, path: str | Path) -> None:
    """Write the model file of a fitted estimator."""
    model_file.save(path, describe(estimator))


def describe(estimator: Any, engine: Engine | None = None) -> ModelFile:
    """Return the content of the model file of a fitted estimator; `engine` may be a copy of its own."""
    state = fitted_state(estimator)
    parameters = estimator.get_params(deep=False)
    del parameters["loss"]
    if "class_weight" in parameters:
        parameters["class_weight"] = class_weights.as_json(parameters["class_weight"])
    if not isinstance(parameters["random_state"], int):
        parameters["random_state"] = None  # a generator's own state is not worth keeping
    spec = getattr(estimator, "input_spec_", None)
    return ModelFile(
        (state.engine if engine is None else engine).state(),
        spec=None if spec is None else spec.as_json(),
        names=state.names,
        class_names=getattr(estimator, "classes_", None),
        feature_names=getattr(estimator, "feature_names_in_", None),
        estimator=type(estimator).__name__,
        parameters={name: _plain(value) for name, value in parameters.items()},
        weight_summary=estimator.weight_summary_,
        weight_factor=getattr(estimator, "weight_factor_", 1.0),
        n_iter=int(estimator.n_iter_),
        calibration=getattr(estimator, "calibration_", None),
        progressive_calibration={} if state.calibration is None else state.calibration.arrays(),
    )


def load(cls: type[Any], path: str | Path, loss: Loss | None) -> Any:
    """Return an estimator of this class with the models of the file."""
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
    calibration = None if classes is None else progressive_calibration.load(content, path, len(classes))
    held_out_calibration = None if content.progressive_calibration else content.calibration
    set_state(estimator, FittedState(engine, content.names, calibration, held_out_calibration))
    estimator.n_features_in_ = engine.features
    estimator.n_iter_ = content.n_iter
    estimator.weight_summary_ = content.weight_summary or NOTHING
    # for a model of the command line, the factor is part of how files are read
    estimator.weight_factor_ = content.weight_factor if spec is None else spec.weight_factor
    attributes = {"classes_": classes, "feature_names_in_": content.feature_names, "input_spec_": spec}
    for name, value in attributes.items():
        if value is not None:
            setattr(estimator, name, value)
    return estimator


def _spec(content: ModelFile, path: str | Path) -> Any:
    # not at the top: estimators of rows do without readers
    from steelyard.engine.file_rows import spec_of

    return spec_of(content, path)


def _parameters(settings: Settings, content: ModelFile, *, auto: bool) -> dict[str, Any]:
    """Return parameters under which an estimator continues as a model of the command line, or a learner, would."""
    names = (
        "update", "scaling", "learning_rate", "initial_t", "power_t", "l1", "l2", "average", "dtype",
    )  # fmt: skip
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
    """Convert NumPy's numbers, and types such as numpy.float32, to values that JSON can hold."""
    if isinstance(value, type):
        return np.dtype(value).name
    return value.item() if isinstance(value, np.generic) else value


def _name_or_loss(loss: Loss) -> str | Loss:
    name = losses.name_of(loss)
    return name if name is not None and losses.by_name(name) == loss else loss
