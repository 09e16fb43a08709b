"""`Model`: settings, weights, accumulators and the clock; kept in one file that any later release loads.

A model file is a safetensors file: the arrays, and one JSON text of metadata. A model that has met
few of its features, as a hashed one has, stores what it has of those only (since format 2). A file that
makes sense only with all of its models, one for each class, has format 3 (see `sweep.contest_files`).
"""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _atomic_files, losses, target_scale, updates
from steelyard._messages import did_you_mean
from steelyard.learn import linear
from steelyard.losses import Loss, check_soundness
from steelyard.schedules import PowerDecay

FORMAT = 3  # the newest that can be read
SCALINGS = ("plain", "row_norm", "adaptive", "normalized")
DTYPES = ("float32", "float64")
_BY_FEATURE = ("weights", "squares", "scales", "debts")
UNTUNED_RATE = 0.4  # of every scaling but normalized, whose best one depends on the loss
L2_FLOWS = ("split", "joint")


@dataclass(frozen=True)
class Settings:
    """How a model learns. Everything that decides its next step but the examples themselves."""

    loss: Loss = field(default_factory=lambda: losses.by_name("squared"))
    update: str = "invariant"
    scaling: str = "normalized"
    learning_rate: float | None = None
    """None: the loss's own for normalized scaling, 0.4 for the others."""
    initial_t: float = 1.0
    power_t: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    bias: bool = True
    dtype: str = "float32"
    follow_labels: bool = True
    """With normalized scaling: whether the unit of the labels shall not matter either (see `label_units`)."""
    l2_flow: str = "split"

    def __post_init__(self) -> None:
        _check_loss(self.loss)
        if losses.name_of(self.loss) is None:
            check_soundness(self.loss)
        updates.by_name(self.update).check(self.loss)
        _one_of("scaling", self.scaling, SCALINGS)
        _one_of("dtype", self.dtype, DTYPES)
        for name in ("l1", "l2"):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a finite number, 0 or more; got {getattr(self, name)!r}")
        _one_of("l2_flow", self.l2_flow, L2_FLOWS)
        if self.l2_flow == "joint":
            self._check_joint()
        self.schedule()

    @property
    def rate(self) -> float:
        """The learning rate, also where none was given."""
        if self.learning_rate is not None:
            return self.learning_rate
        return self.loss.default_learning_rate if self.scaling == "normalized" else UNTUNED_RATE

    def _check_joint(self) -> None:
        for ok, name, why in (
            (self.update == "invariant", "update", "only update='invariant' follows a flow"),
            (
                not self.adaptive,
                "scaling",
                "it needs one rate for all features: scaling='plain' or 'row_norm'",
            ),
            (self.l1 == 0.0, "l1", "only L2 has a joint flow: set l1=0"),
        ):
            if not ok:
                raise ValueError(f"l2_flow='joint' cannot go with {name}={getattr(self, name)!r}: {why}")

    def schedule(self) -> PowerDecay:
        return PowerDecay(self.rate, self.initial_t, self.power_t)

    @property
    def in_label_units(self) -> bool:
        return self.follow_labels and self.scaling == "normalized" and target_scale.follow(self.loss)

    @property
    def adaptive(self) -> bool:
        return self.scaling in ("adaptive", "normalized")


class Model:
    """The numbers. `learner` moves them; this class only makes, reads, saves and loads them."""

    def __init__(self, settings: Settings, features: int) -> None:
        dtype = settings.dtype
        self.settings = settings
        self.features = features
        # A weight and its sum of squares are one complex number, so that they lie side by side in memory.
        self.pairs = np.zeros(features, np.result_type(dtype, np.complex64) if settings.adaptive else dtype)
        self.scales = np.zeros(features if settings.scaling == "normalized" else 0, dtype)
        self.debts = np.zeros(features if settings.l1 > 0.0 else 0)
        self.label_state = np.zeros(target_scale.SIZE if settings.in_label_units else 0)
        self.state = np.zeros(linear.STATE_SIZE)
        self.state[linear.SCALE] = 1.0

    @property
    def weights(self) -> NDArray[np.floating[Any]]:
        """As they are stored; a view."""
        return self.pairs.real

    @property
    def squares(self) -> NDArray[np.floating[Any]]:
        """The sums of squared gradients behind adaptive rates; a view."""
        return self.pairs.imag if self.settings.adaptive else self.pairs[:0]

    @property
    def clock(self) -> float:
        """The importance learned so far."""
        return float(self.state[linear.CLOCK])

    @property
    def bias(self) -> float:
        return float(self.state[linear.BIAS])

    @property
    def weight(self) -> float:
        """The importance of the examples that the progressive loss is an average over."""
        return float(self.state[linear.WEIGHT])

    @property
    def unit(self) -> float:
        """The factor of the learning rate: the spread of the labels so far; 1 if it is of no account."""
        return float(self.label_state[target_scale.UNIT]) if len(self.label_state) else 1.0

    @property
    def progressive_loss(self) -> float:
        """The average loss of predictions made before their example was learned, weighted by importance."""
        return float(self.state[linear.LOSS]) / self.weight if self.weight > 0.0 else float("nan")

    def coefficients(self) -> NDArray[np.floating[Any]]:
        """The weights as they multiply the features: a view where they are stored so, else a copy."""
        if self.state[linear.SCALE] == 1.0 and not len(self.debts):
            return self.weights
        true = np.empty_like(self.weights)
        linear.materialise(
            self.weights, self.state[linear.SCALE], self.state[linear.L1_TOTAL], self.debts, true
        )
        return true

    def save(
        self,
        path: str | Path,
        extra: dict[str, Any] | None = None,
        arrays: dict[str, NDArray[Any]] | None = None,
        *,
        one_of_several: bool = False,
    ) -> None:
        """Write the model, replacing the file in one move; `extra` and `arrays` are kept beside it.

        `one_of_several`: alone it means nothing, and whoever does not know of the others shall not read it.
        """
        from safetensors.numpy import save

        settings = asdict(self.settings)
        name = losses.name_of(self.settings.loss)
        settings["loss"] = {"name": name or type(self.settings.loss).__name__, "own": name is None} | {
            "parameters": asdict(self.settings.loss)
        }
        about = {"format": 3 if one_of_several else 2, "features": self.features, "settings": settings}
        about["extra"] = extra or {}
        content = save(self.compact() | (arrays or {}), {"steelyard": json.dumps(about)})
        with _atomic_files.replacing(Path(path)) as temporary:
            temporary.write_bytes(content)

    def compact(self) -> dict[str, NDArray[Any]]:
        """The arrays as they are stored: of few features, what has been met of them only."""
        arrays = self._arrays()
        by_feature = {name: array for name, array in arrays.items() if name in _BY_FEATURE and len(array)}
        met = np.zeros(self.features, bool)
        for array in by_feature.values():
            met |= array != 0.0
        places = np.flatnonzero(met)
        if 2 * len(places) > self.features:
            return {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return arrays | {name: array[places] for name, array in by_feature.items()} | {"met": places}

    def _arrays(self) -> dict[str, NDArray[Any]]:
        names = ("weights", "squares", "scales", "debts", "label_state", "state")
        return {name: getattr(self, name) for name in names}


def load(path: str | Path, loss: Loss | type[Loss] | None = None) -> Model:
    """Read a model; `loss` is needed, and used, only for one that was trained with a loss of your own.

    Of a loss given as a class, the model knows the parameters.
    """
    model, _ = load_with_extra(path, loss)
    return model


def load_with_extra(path: str | Path, loss: Loss | type[Loss] | None = None) -> tuple[Model, dict[str, Any]]:
    """The model and what was kept beside it as JSON."""
    model, extra, _ = load_all(path, loss)
    return model, extra


def load_all(
    path: str | Path, loss: Loss | type[Loss] | None = None, *, one_of_several: bool = False
) -> tuple[Model, dict[str, Any], dict[str, NDArray[Any]]]:
    """The model, and what was kept beside it as JSON and as arrays."""
    arrays, about = _read(Path(path))
    if about["format"] == 3 and not one_of_several:
        raise ValueError(f"{path}: holds several models, one for each class; OnlineClassifier.load reads it")
    known = {f.name for f in fields(Settings)}
    try:
        settings = {name: value for name, value in about["settings"].items() if name in known}
        settings["loss"] = _loss(Path(path), settings["loss"], loss)
        if "follow_labels" not in settings:  # when there was no such thing, a model also had fewer arrays
            settings["follow_labels"] = False
            arrays["label_state"] = np.zeros(0)
        model, extra = Model(Settings(**settings), int(about["features"])), dict(about["extra"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: not a model file, or a damaged one ({error!r})") from None
    fill(path, model, arrays)
    return model, extra, arrays


def fill(path: str | Path, model: Model, arrays: dict[str, NDArray[Any]]) -> None:
    """Move what `compact` has stored, out of these arrays, into a model of the same settings."""
    met = arrays.pop("met", None)
    for name, empty in model._arrays().items():
        stored = arrays.pop(name, None)
        if stored is not None and met is not None and name in _BY_FEATURE and len(empty):
            stored = _spread(stored, met, model.features)
        if stored is None or stored.shape != empty.shape or stored.dtype != empty.dtype:
            raise ValueError(f"{path}: the array {name!r} is missing or not what its settings say")
        empty[...] = stored


def _spread(stored: NDArray[Any], met: NDArray[Any], features: int) -> NDArray[Any] | None:
    """What is stored of the features that were met, among those that were not; None if it does not fit."""
    if (
        stored.shape != met.shape
        or met.ndim != 1
        or (len(met) and not 0 <= met.min() <= met.max() < features)
    ):
        return None
    array = np.zeros(features, stored.dtype)
    array[met] = stored
    return array


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            text = (file.metadata() or {}).get("steelyard")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path}: not a model file, or a damaged one ({error})") from None
    if text is None:
        raise ValueError(f"{path}: a safetensors file, but not one of steelyard's")
    try:
        about = json.loads(text)
        newest = int(about["format"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path}: not a model file, or a damaged one (its metadata make no sense)") from None
    if newest > FORMAT:
        newer = f"written by a newer steelyard (format {newest}, this one reads up to {FORMAT})"
        raise ValueError(f"{path}: {newer}; upgrade")
    return arrays, about


def _loss(path: Path, stored: dict[str, Any], given: Loss | type[Loss] | None) -> Loss:
    if not stored["own"]:
        return losses.by_name(stored["name"], **stored["parameters"])
    if isinstance(given, type) and set(stored["parameters"]) == {f.name for f in fields(given)}:
        given = given(**stored["parameters"])
    same = isinstance(given, Loss) and type(given).__name__ == stored["name"]
    if not isinstance(given, Loss) or not same or asdict(given) != stored["parameters"]:
        parameters = ", ".join(f"{name}={value}" for name, value in stored["parameters"].items())
        raise ValueError(
            f"{path}: trained with the loss {stored['name']}({parameters}); give it: load(path, loss=…), "
            "or on the command line --loss module:Class"
        )
    return given


def _check_loss(loss: Loss) -> None:
    """What a compiler would say at length."""
    for method in ("value", "derivative"):
        if getattr(type(loss), method) is getattr(Loss, method):
            raise ValueError(f"the loss {type(loss).__name__} must define {method}(p, y)")
    for name, value in vars(loss).items():
        if not isinstance(value, int | float):
            raise TypeError(f"the loss {type(loss).__name__} has {name}={value!r}: it must be a number")


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(
            f"there is no {what} {given!r}; it is one of {', '.join(known)}{did_you_mean(given, known)}"
        )
