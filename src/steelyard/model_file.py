"""Model files: the one module that reads and writes them. Every release reads the files of all earlier ones.

A model file is a safetensors file: arrays, and one JSON text of metadata. The model that answers lies under
plain names; the others of its engine (further settings, further classes) under their numbers. A model that
has met few of its features stores those only (since format 2). Format 3 marks a file whose first model means
nothing without the others: one model for each class.

What else a file may hold: how files are read (`spec`), the names of features, the classes, the parameters of
an estimator, and the position of a training run that is not finished.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray

from steelyard import _atomic_files, model_schema
from steelyard.losses import Loss
from steelyard.model import Model, Settings
from steelyard.weight_summary import WeightSummary

if TYPE_CHECKING:
    from steelyard.features import Names

Arrays = dict[str, NDArray[Any]]

FORMAT = 4  # the newest that this release reads
_BY_FEATURE = ("weights", "squares", "scales", "debts", "units", "lag", "origins")
_BY_COUNT = ("columns", "candidates")  # of which the counts say how many mean something
_SINCE_STANDARDIZED = ("units", "unit_fill", "lag", "origins", "columns", "candidates", "column_counts")
_DIFFERING = ("learning_rate", "initial_t", "power_t")  # what competing settings may differ in
_RUN_ARRAY = "run_"
_CALIBRATION = "calibration."


@dataclass
class EngineState:
    """What an engine has learned: for each setting one model, or one for each class."""

    settings: list[Settings]
    models: list[Model]
    """By setting, then by class."""
    classes: int = 0
    """More than two: a model for each of them. Else one model a setting."""
    best: int = 0
    """The setting that answers."""
    error: NDArray[np.float64] | None = None
    """Of each setting: the weight of wrong predictions; None if it was not counted."""
    alive: NDArray[np.float64] | None = None
    """Of each model: 0 if it diverged."""

    @property
    def models_each(self) -> int:
        return self.classes if self.classes > 2 else 1

    @property
    def best_models(self) -> list[Model]:
        first = self.best * self.models_each
        return self.models[first : first + self.models_each]


@dataclass
class ModelFile:
    """The content of a file. Whatever is None, the file does not know."""

    engine: EngineState
    spec: dict[str, Any] | None = None
    """How files are read: an `InputSpec` as JSON."""
    names: Optional["Names"] = None
    class_names: NDArray[Any] | None = None
    feature_names: NDArray[Any] | None = None
    estimator: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    weight_summary: WeightSummary | None = None
    weight_factor: float = 1.0
    """What an estimator multiplies weights by; that of files is in `spec`."""
    n_iter: int = 1
    calibration: list[list[float]] | None = None
    """The sigmoids that make probabilities: a, b and the bend of each."""
    progressive_calibration: Arrays = field(default_factory=dict)
    """What they were fitted to and will be fitted to again, if that is progressive predictions."""
    training: dict[str, Any] | None = None
    """What it was trained on: an `engine.training_record.TrainingRecord` as JSON."""
    run: dict[str, Any] | None = None
    """The position of an unfinished training run: the file is a checkpoint."""
    run_arrays: Arrays = field(default_factory=dict)


def save(path: str | Path, content: ModelFile) -> None:
    """Write the file, replacing an earlier one in one move."""
    serialised = as_bytes(content)
    with _atomic_files.replacing(Path(path)) as temporary:
        temporary.write_bytes(serialised)


def as_bytes(content: ModelFile) -> bytes:
    """What `save` writes."""
    from safetensors.numpy import save as serialise

    engine = content.engine
    arrays: Arrays = {} if content.names is None else dict(content.names.arrays())
    arrays |= content.run_arrays
    arrays |= {_CALIBRATION + name: array for name, array in content.progressive_calibration.items()}
    first = engine.best * engine.models_each
    extra: dict[str, Any] = {
        "estimator": content.estimator,
        "parameters": content.parameters,
        "classes": model_schema.listed(content.class_names),
        "feature_names": model_schema.listed(content.feature_names),
        "weight_summary": None if content.weight_summary is None else asdict(content.weight_summary),
        "weight_factor": None if content.weight_factor == 1.0 else content.weight_factor,
        "n_iter": content.n_iter,
        "reading": content.spec,
        "calibration": content.calibration,
        "training": content.training,
        "run": content.run,
    }
    extra = {name: value for name, value in extra.items() if value is not None}
    if len(engine.models) == 1:
        known = engine.error is not None and np.isfinite(engine.error[0])
        extra["errors"] = float(engine.error[0]) if known and engine.error is not None else None
    else:
        extra["contest"] = {
            "classes": engine.classes,
            "first": first,
            "settings": [{name: getattr(each, name) for name in _DIFFERING} for each in engine.settings],
        }
        assert engine.error is not None
        assert engine.alive is not None
        arrays |= {"contest.error": engine.error, "contest.alive": engine.alive}
        for number, model in enumerate(engine.models):
            if number != first:
                arrays |= {f"{number}.{name}": array for name, array in _compact(model).items()}
    answering = engine.models[first]
    about = {
        "format": _format(content),
        "features": answering.features,
        "settings": model_schema.settings_as_json(answering.settings),
        "extra": extra,
    }
    return bytes(serialise(_compact(answering) | arrays, {"steelyard": json.dumps(about)}))


def _format(content: ModelFile) -> int:
    """The oldest that can say all there is."""
    if any(bend > 0.0 for _, _, bend in content.calibration or ()):
        return 4
    return 3 if content.engine.models_each > 1 else 2


def load(path: str | Path, loss: Loss | type[Loss] | None = None) -> ModelFile:
    """Read a file; `loss` is needed, and used, only for a model that was trained with a loss of your own.

    Of a loss given as a class, the file knows the parameters.
    """
    path = Path(path)
    arrays, about = _read(path)
    try:
        model_schema.check(about, arrays)
        settings = model_schema.settings_from_json(path, about["settings"], loss)
        if "follow_labels" not in about["settings"]:  # older than the unit of labels, and its array
            arrays["label_state"] = np.zeros(0)
        extra = dict(about["extra"])
        engine = _load_engine(path, Model(settings, int(about["features"])), extra, arrays)
        return ModelFile(
            engine=engine,
            spec=extra.get("reading"),
            names=_load_names(engine.models[0].features, arrays),
            class_names=model_schema.array(extra.get("classes")),
            feature_names=model_schema.array(extra.get("feature_names")),
            estimator=extra.get("estimator"),
            parameters=dict(extra.get("parameters") or {}),
            weight_summary=WeightSummary(**extra["weight_summary"]) if extra.get("weight_summary") else None,
            weight_factor=float(extra.get("weight_factor", 1.0)),
            n_iter=int(extra.get("n_iter", 1)),
            calibration=extra.get("calibration") and [[*each, 0.0][:3] for each in extra["calibration"]],
            progressive_calibration=_under(_CALIBRATION, arrays),
            training=extra.get("training"),
            run=extra.get("run"),
            run_arrays={name: array for name, array in arrays.items() if name.startswith(_RUN_ARRAY)},
        )
    except ValueError as error:
        raise error if str(path) in str(error) else _damaged(path, str(error)) from None
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, MemoryError) as error:
        raise _damaged(path, repr(error)) from None


def is_model(path: str | Path) -> bool:
    """Whether it is a model file, of which only the header is read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            return "steelyard" in (file.metadata() or {})
    except (SafetensorError, OSError):
        return False


def load_one(path: str | Path, loss: Loss | type[Loss] | None = None, class_name: Any = None) -> Model:
    """One model of a file: the only one, or that of one class against the rest."""
    content = load(path, loss)
    models = content.engine.best_models
    if len(models) == 1:
        return models[0]
    names = list(range(len(models))) if content.class_names is None else content.class_names.tolist()
    if class_name not in names:
        listed = ", ".join(map(str, names))
        if class_name is not None:
            raise ValueError(f"{path}: there is no class {class_name!r}; the classes are {listed}")
        raise ValueError(
            f"{path}: holds several models, one for each class ({listed}): name one, "
            "load(path, class_name=…), or read all with OnlineClassifier.load"
        )
    return models[names.index(class_name)]


def _load_engine(path: Path, model: Model, extra: dict[str, Any], arrays: Arrays) -> EngineState:
    _fill(path, model, arrays)
    about = extra.get("contest")
    if about is None:
        errors = extra.get("errors")
        return EngineState([model.settings], [model], error=None if errors is None else np.array([errors]))
    settings = [replace(model.settings, **each) for each in about["settings"]]
    state = EngineState(settings, [], int(about["classes"]))
    first = int(about["first"])
    count = len(settings) * state.models_each
    if not 0 <= first < count:
        raise _damaged(path, f"its first model is number {first} of {count}")
    for number in range(count):
        if number == first:
            state.models.append(model)
            continue
        other = Model(settings[number // state.models_each], model.features)
        _fill(path, other, _under(f"{number}.", arrays))
        state.models.append(other)
    model.settings = settings[first // state.models_each]
    state.best = first // state.models_each
    state.error, state.alive = arrays["contest.error"], arrays["contest.alive"]
    if state.error.shape != (len(settings),) or state.alive.shape != (count,):
        raise _damaged(path, "its figures do not fit its settings")
    return state


def _compact(model: Model) -> Arrays:
    """The arrays as they are stored: where few features have been met, of those only."""
    arrays = model.arrays()
    by_feature = {name: array for name, array in arrays.items() if name in _BY_FEATURE and len(array)}
    met = np.zeros(model.features, bool)
    for name, array in by_feature.items():
        met |= array != (model.unit_fill[0] if name == "units" else 0.0)
    places = np.flatnonzero(met)
    for name, count in zip(_BY_COUNT, arrays["column_counts"].tolist(), strict=True):
        arrays[name] = arrays[name][:count]
    if 2 * len(places) > model.features:
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return arrays | {name: array[places] for name, array in by_feature.items()} | {"met": places}


def _fill(path: Path, model: Model, arrays: Arrays) -> None:
    """Move what `_compact` has stored, out of these arrays, into a model of the same settings."""
    met = arrays.pop("met", None)
    for name, empty in model.arrays().items():
        stored = arrays.pop(name, None)
        if stored is None and name in _SINCE_STANDARDIZED and model.settings.scaling != "standardized":
            continue  # written before there were units and averages
        if stored is not None and name == "state":
            stored = np.append(stored, np.zeros(max(len(empty) - len(stored), 0)))
        if stored is not None and name in _BY_COUNT and len(stored) <= len(empty):
            stored = np.concatenate([stored, empty[len(stored) :]])
        if stored is not None and met is not None and name in _BY_FEATURE and len(empty):
            fill = float(arrays["unit_fill"][0]) if name == "units" else 0.0
            stored = _spread(stored, met, model.features, fill)
        if stored is None or stored.shape != empty.shape or stored.dtype != empty.dtype:
            raise ValueError(f"{path}: the array {name!r} is missing or not what its settings say")
        empty[...] = stored
    model_schema.check_columns(model.features, model.arrays())


def _under(prefix: str, arrays: Arrays) -> Arrays:
    """Those whose names begin so, by the rest of the name."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _spread(stored: NDArray[Any], met: NDArray[Any], features: int, fill: float) -> NDArray[Any] | None:
    """What is stored of the features that were met, among those that were not; None if it does not fit."""
    if (
        stored.shape != met.shape
        or met.ndim != 1
        or (len(met) and not 0 <= met.min() <= met.max() < features)
    ):
        return None
    array = np.full(features, fill, stored.dtype)
    array[met] = stored
    return array


def _load_names(features: int, arrays: Arrays) -> Optional["Names"]:
    if "names_index" not in arrays:
        return None
    from steelyard.features import Names  # not at the top: estimators of rows do without it

    return Names.from_arrays(features, arrays)


def _read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            text = (file.metadata() or {}).get("steelyard")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file") from None
    except (SafetensorError, OSError) as error:
        raise _damaged(path, str(error)) from None
    if text is None:
        raise ValueError(f"{path}: a safetensors file, but not one of steelyard's")
    try:
        about = json.loads(text)
        if "\\ud" in text:  # perhaps half of a pair, which nobody could write again: a UnicodeEncodeError
            json.dumps(about, ensure_ascii=False).encode()
        newest = int(dict(about)["format"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise _damaged(path, "its metadata make no sense") from None
    if newest > FORMAT:
        newer = f"written by a newer steelyard (format {newest}, this one reads up to {FORMAT})"
        raise ValueError(f"{path}: {newer}; upgrade")
    return arrays, about


def _damaged(path: Path, why: str) -> ValueError:
    return ValueError(f"{path}: not a model file, or a damaged one ({why})")
