"""Model files: the one module that reads and writes them. Every release reads the files of all earlier ones.

A model file is a safetensors file: arrays, and one JSON text of metadata. The model that answers has plain names;
those of other models of its engine (further settings, further classes) begin with their numbers. Format 3 marks a
file whose first model is meaningless without the others: one model for each class.

A file may also hold how files are read (`spec`), the names of features, the classes, the parameters of an
estimator, and the position of a training run that is not finished.
"""

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Optional

import numpy as np
from numpy.typing import NDArray

from steelyard import _array_writer, _atomic_files, model_arrays, model_schema
from steelyard.array_table import Arrays
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.model_arrays import ArrayFile, Read, StoredModel
from steelyard.settings import Settings
from steelyard.weight_summary import WeightSummary

if TYPE_CHECKING:
    from steelyard.features import Names

_DIFFERING = ("learning_rate", "initial_t", "power_t")  # settings that compete differ in these only
_RUN_ARRAY = "run_"
_CALIBRATION = "calibration."


@dataclass
class EngineState:
    """The state of an engine: for each setting one model, or one for each class."""

    settings: list[Settings]
    models: Sequence[Model]
    """The models, by setting, then by class. An engine makes them one by one, when they are asked for."""
    classes: int = 0
    """The number of classes. With more than two, each has a model; otherwise each setting has one."""
    best: int = 0
    """The number of the setting that answers."""
    error: NDArray[np.float64] | None = None
    """The weight of wrong predictions of each setting; None if it was not counted."""
    alive: NDArray[np.float64] | None = None
    """For each model: 0 if it diverged."""
    features: int = 0
    """The number of features of each model."""

    def __post_init__(self) -> None:
        if not self.features and self.models:
            self.features = self.models[0].features

    @property
    def models_each(self) -> int:
        return self.classes if self.classes > 2 else 1

    @property
    def answering(self) -> Model:
        """The model that answers, or the first of its classes, which all have the same clock and weight."""
        return next(self.best_models())

    def best_models(self) -> Iterator[Model]:
        """Yield the model that answers, or those of its classes, one by one."""
        first = self.best * self.models_each
        return (self.models[number] for number in range(first, first + self.models_each))

    @property
    def progressive_loss(self) -> float:
        """The progressive loss of the setting that answers; with several classes, the mean over their models."""
        return float(np.mean([model.progressive_loss for model in self.best_models()]))


@dataclass
class ModelFile:
    """The content of a file; None where the file has nothing."""

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
    """The factor of an estimator's weights; that of files is in `spec`."""
    n_iter: int = 1
    calibration: list[list[float]] | None = None
    """The sigmoids that make probabilities: a, b and the bend of each."""
    progressive_calibration: Arrays = field(default_factory=dict)
    """The histograms of progressive predictions that they are fitted to, if they are."""
    training: dict[str, Any] | None = None
    """The files it was trained on: an `engine.training_record.TrainingRecord` as JSON."""
    run: dict[str, Any] | None = None
    """The position of an unfinished training run, in a checkpoint."""
    run_arrays: Arrays = field(default_factory=dict)


def save(path: str | Path, content: ModelFile) -> None:
    """Write the file, replacing an earlier one in one move; models are written one after another."""
    with _atomic_files.replacing(Path(path)) as temporary, temporary.open("wb") as file:
        if file.seekable():
            _write(file, content)
        else:
            file.write(as_bytes(content))


def as_bytes(content: ModelFile) -> bytes:
    """Return the bytes that `save` writes."""
    file = io.BytesIO()
    _write(file, content)
    return file.getvalue()


def _write(file: BinaryIO, content: ModelFile) -> None:
    engine = content.engine
    first = engine.best * engine.models_each
    beside = _arrays_beside(content)

    def arrays() -> Iterator[tuple[str, NDArray[Any]]]:
        yield from beside.items()
        for number, model in enumerate(engine.models):
            prefix = "" if number == first else f"{number}."
            yield from ((prefix + name, array) for name, array in model_arrays.compact(model).items())

    about = {
        "format": _format(content),
        "features": engine.features,
        "settings": model_schema.settings_as_json(engine.settings[engine.best]),
        "extra": _extra(content),
    }
    _array_writer.write(file, arrays, {"steelyard": json.dumps(about)})


def _arrays_beside(content: ModelFile) -> Arrays:
    """Return the arrays that do not belong to a model."""
    arrays: Arrays = {} if content.names is None else dict(content.names.arrays())
    arrays |= content.run_arrays
    arrays |= {_CALIBRATION + name: array for name, array in content.progressive_calibration.items()}
    if len(content.engine.models) > 1:
        assert content.engine.error is not None
        assert content.engine.alive is not None
        arrays |= {"contest.error": content.engine.error, "contest.alive": content.engine.alive}
    return arrays


def _extra(content: ModelFile) -> dict[str, Any]:
    """Return the metadata beside the settings."""
    engine = content.engine
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
            "first": engine.best * engine.models_each,
            "settings": [{name: getattr(each, name) for name in _DIFFERING} for each in engine.settings],
        }
    return extra


def _format(content: ModelFile) -> int:
    """Return the oldest format that holds everything, and whose releases would learn on in the same way."""
    if any(model.settings.in_epochs for model in content.engine.models):
        return 7
    if any(bend > 0.0 for _, _, bend in content.calibration or ()):
        return 4
    return 3 if content.engine.models_each > 1 else 2


def load(path: str | Path, loss: Loss | type[Loss] | None = None) -> ModelFile:
    """Read a file; `loss` is needed, and used, only for a model that was trained with a loss of your own.

    It may be given as a class: the file has its parameters.
    """
    with reading(path, loss) as content:
        content.engine.models = list(content.engine.models)
        return content


@contextmanager
def reading(path: str | Path, loss: Loss | type[Loss] | None = None) -> Iterator[ModelFile]:
    """Read a file as `load` does; its models are read one by one when they are asked for, within this context."""
    path = Path(path)
    with model_arrays.explained(path), ArrayFile(path) as file:
        content = _content(file, loss, names=True)
        content.engine.models = _ModelsInFile(list(_models(file, content.engine)))
        yield content


class _ModelsInFile(Sequence[Model]):
    """The models of a file by number, read each time they are asked for."""

    def __init__(self, stored: list[tuple[Settings, int, Read]]) -> None:
        self._stored = stored

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, number: Any) -> Any:
        settings, features, read = self._stored[number]
        return model_arrays.fill(Model(settings, features), read)


@contextmanager
def opened(
    path: str | Path, loss: Loss | type[Loss] | None = None, *, names: bool = False
) -> Iterator[tuple[ModelFile, Iterator[StoredModel]]]:
    """Read a file to predict: models come one by one, each without the arrays that only learning needs."""
    path = Path(path)
    with model_arrays.explained(path), ArrayFile(path) as file:
        content = _content(file, loss, names=names)
        yield content, starmap(StoredModel, _models(file, content.engine))


def _content(file: ArrayFile, loss: Loss | type[Loss] | None, *, names: bool) -> ModelFile:
    """Return the content without the models."""
    model_schema.check(file.about)
    settings = model_schema.settings_from_json(file.path, file.about["settings"], loss)
    extra = dict(file.about["extra"])
    return ModelFile(
        engine=_engine(file, settings, extra),
        spec=extra.get("reading"),
        names=_load_names(file) if names and "names_index" in file.names else None,
        class_names=model_schema.array(extra.get("classes")),
        feature_names=model_schema.array(extra.get("feature_names")),
        estimator=extra.get("estimator"),
        parameters=dict(extra.get("parameters") or {}),
        weight_summary=WeightSummary(**extra["weight_summary"]) if extra.get("weight_summary") else None,
        weight_factor=float(extra.get("weight_factor", 1.0)),
        n_iter=int(extra.get("n_iter", 1)),
        calibration=extra.get("calibration") and [[*each, 0.0][:3] for each in extra["calibration"]],
        progressive_calibration={
            name.removeprefix(_CALIBRATION): array for name, array in file.all_under(_CALIBRATION).items()
        },
        training=extra.get("training"),
        run=extra.get("run"),
        run_arrays=file.all_under(_RUN_ARRAY),
    )


def is_model(path: str | Path) -> bool:
    """Return whether it is a model file, by reading its header."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            return "steelyard" in (file.metadata() or {})
    except (SafetensorError, OSError):
        return False


def load_one(path: str | Path, loss: Loss | type[Loss] | None = None, class_name: Any = None) -> Model:
    """Return one model of a file: the only one, or that of one class against the rest."""
    content = load(path, loss)
    models = list(content.engine.best_models())
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


def _engine(file: ArrayFile, settings: Settings, extra: dict[str, Any]) -> EngineState:
    """Return the state of the engine without its models."""
    about, features = extra.get("contest"), int(file.about["features"])
    if about is None:
        errors = extra.get("errors")
        error = None if errors is None else np.array([errors])
        return EngineState([settings], [], error=error, features=features)
    competing = [replace(settings, **each) for each in about["settings"]]
    state = EngineState(competing, [], int(about["classes"]), features=features)
    count, first = len(state.settings) * state.models_each, int(about["first"])
    if not 0 <= first < count:
        raise model_arrays.damaged(file.path, f"its first model is number {first} of {count}")
    state.best = first // state.models_each
    state.error, state.alive = file.read("contest.error"), file.read("contest.alive")
    if state.error is None or state.alive is None:
        raise ValueError("it lacks the figures of its settings")
    if state.error.shape != (len(state.settings),) or state.alive.shape != (count,):
        raise model_arrays.damaged(file.path, "its figures do not fit its settings")
    return state


def _models(file: ArrayFile, state: EngineState) -> Iterator[tuple[Settings, int, Read]]:
    """Yield for each model its settings, its features, and the function that reads its arrays."""
    contest = file.about["extra"].get("contest")
    first = 0 if contest is None else int(contest["first"])
    for number in range(len(state.settings) * state.models_each):
        read = file.read if number == first else file.under(f"{number}.")
        yield state.settings[number // state.models_each], state.features, read


def _load_names(file: ArrayFile) -> "Names":
    from steelyard.features import Names  # not at the top: estimators of rows do without it

    features, arrays = int(file.about["features"]), file.all_under("names_")
    model_schema.check_names(features, arrays)
    return Names.from_arrays(features, arrays)
