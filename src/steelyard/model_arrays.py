"""The arrays of a model file: which of them are stored, read one by one, checked, and put into models.

A model that has met few of its features stores those only (since format 2). To predict, a model needs less
than it has learned: `StoredModel` reads just that.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard import feature_columns, model_schema
from steelyard.learn import linear, shrinkage
from steelyard.model import Model, Settings

Arrays = dict[str, NDArray[Any]]
Read = Callable[[str], NDArray[Any] | None]

FORMAT = 7  # the newest that this release reads
_BY_FEATURE = ("weights", "squares", "scales", "debts", "units", "lag", "gained", "origins", "debt_lags")
_BY_COUNT = ("columns", "candidates", "payments")  # of which a count says how many mean something
_SINCE_STANDARDIZED = ("units", "unit_fill", "lag", "origins", "columns", "candidates", "column_counts")
_SINCE_SHRINKAGE = ("debt_lags", "payments")
_OLD_STATE = linear.REFERENCE + 1  # numbers in the state of files without these
_STATE_OF_ROWS = (
    linear.PAYMENTS + 1
)  # and in those whose rates changed with every row, not with whole numbers
_EXACT = ("weights", "squares", "lag")  # which kernels may keep in float64, whatever the model's own type
_ONLY_TO_LEARN = ("squares", "scales", "gained", "label_state", "class_state")
_MAPPED = 16 << 20  # bytes of a file that may be in memory beside the arrays that are made of them


class ArrayFile:
    """A model file, open: its metadata, and its arrays by name, read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open()
        self.about = _metadata(path, self._file.metadata() or {})
        self.names = frozenset(self._file.keys())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.__exit__(None, None, None)

    def read(self, name: str) -> NDArray[Any] | None:
        """A copy; None if there is none of that name."""
        if name not in self.names:
            return None
        if self._mapped > _MAPPED:  # pages of a mapped file stay until it is closed
            self.__exit__()
            self._open()
        array: NDArray[Any] = self._file.get_tensor(name)
        self._mapped += array.nbytes
        model_schema.check_array(name, array)
        return array

    def under(self, prefix: str) -> Read:
        """`read` of the names that begin so, by the rest of the name."""
        return lambda name: self.read(prefix + name)

    def all_under(self, prefix: str) -> Arrays:
        """All arrays whose names begin so."""
        found = {name: self.read(name) for name in sorted(self.names) if name.startswith(prefix)}
        return {name: array for name, array in found.items() if array is not None}

    def _open(self) -> None:
        from safetensors import SafetensorError, safe_open

        try:
            self._file = safe_open(self.path, "numpy").__enter__()  # type: ignore[no-untyped-call, unused-ignore]
        except FileNotFoundError:
            from steelyard.io.sources import describe_missing  # not at the top: estimators do without readers

            raise FileNotFoundError(describe_missing(str(self.path))) from None
        except (SafetensorError, OSError) as error:
            raise damaged(self.path, str(error)) from None
        self._mapped = 0


class StoredModel(Model):
    """A model as a file has it, with what it predicts with, and nothing of what it would learn on with."""

    def __init__(self, settings: Settings, features: int, read: Read) -> None:
        small = min(features, feature_columns.MOST)
        super().__init__(settings, small)
        self.features = features
        if len(self.payments):
            self.payments = shrinkage.payments_for(features)
        self._stored = {
            "weights": _repeated(self.pairs.real, features),
            "units": _repeated(super().units, features),
            "lag": _repeated(super().lag, features),
            "origins": _repeated(self.columns.origins, features),
            "debts": _repeated(self.l1_applied, features),
            "debt_lags": _repeated(self.l1_lags, features),
        }
        for name, empty, stored in _checked(self, read, leave=_ONLY_TO_LEARN):
            if name in self._stored:
                self._stored[name] = stored
            else:
                empty[...] = stored
        self.columns.origins, self.l1_applied = self._stored["origins"], self._stored["debts"]
        self.l1_lags = self._stored["debt_lags"]
        _mend_averages(self, read)

    def arrays(self) -> Arrays:
        return super().arrays() | self._stored

    @property
    def raw_coefficients(self) -> NDArray[np.floating[Any]]:
        return self._stored["weights"]

    @property
    def units(self) -> NDArray[np.floating[Any]]:
        return self._stored["units"]

    @property
    def lag(self) -> NDArray[np.floating[Any]]:
        return self._stored["lag"]


def _repeated(array: NDArray[Any], features: int) -> NDArray[Any]:
    """Zeros for all features, if there are any for some, in the memory of one."""
    return np.broadcast_to(array[:1], (features, *array.shape[1:])) if len(array) else array


def fill(model: Model, read: Read) -> Model:
    """Put what `compact` has stored into a model of the same settings."""
    if read("gained") is not None:
        model.hold_gains()
    for _, empty, stored in _checked(model, read):
        empty[...] = stored
    _mend_averages(model, read)
    _begin_epochs(model, read)
    return model


def _mend_averages(model: Model, read: Read) -> None:
    """Files of format 5 and older left L1 and L2 out of averages, which then begin anew at the present."""
    if model.settings.averages_shrink and _is_older(read):
        model.raw_coefficients[...], _ = model.last_and_behind()
        model.lag[...] = 0.0
        model.l1_applied[...] = 0.0
        model.state[[linear.SCALE, linear.L1_TOTAL, linear.BIAS_LAG]] = 1.0, 0.0, 0.0


def _is_older(read: Read, size: int = _OLD_STATE) -> bool:
    """Whether the file has so short a state: by default, from before averages followed L1 and L2."""
    state = read("state")
    return state is not None and len(state) <= size


def _begin_epochs(model: Model, read: Read) -> None:
    """The state of the epoch (see `learn.clock`), which files of format 6 and older do not have."""
    if _is_older(read, _STATE_OF_ROWS):
        model.set_clock(model.clock)
    model_schema.check_clock(model.state)
    model.list_gains()


def compact(model: Model) -> Arrays:
    """The arrays as they are stored: where few features have been met, of those only."""
    arrays = model.arrays()
    arrays["weights"] = arrays["weights"].astype(model.settings.dtype, copy=False)  # as they are rounded
    if model.state[linear.FRACTION] == 0.0 or not len(model.gained):
        del arrays["gained"]
    by_feature = {name: array for name, array in arrays.items() if name in _BY_FEATURE and len(array)}
    met = np.zeros(model.features, bool)
    for name, array in by_feature.items():
        met |= array != (model.unit_fill[0] if name == "units" else 0.0)
    places = np.flatnonzero(met)
    counts = (*arrays["column_counts"].tolist(), int(model.state[linear.PAYMENTS]))
    for name, count in zip(_BY_COUNT, counts, strict=True):
        arrays[name] = arrays[name][:count]
    if not model.settings.in_epochs:  # older releases can read it
        arrays["state"] = arrays["state"][:_OLD_STATE]
    if 2 * len(places) > model.features:
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return arrays | {name: array[places] for name, array in by_feature.items()} | {"met": places}


def _checked(
    model: Model, read: Read, leave: tuple[str, ...] = ()
) -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Of each array but those to leave: its name, its place in the model, and what is stored of it."""
    met = read("met")
    found: Arrays = {}
    for name, empty in model.arrays().items():
        if name in leave or (name == "gained" and not len(empty)):
            continue
        stored = read(name)
        if stored is None and name in _SINCE_STANDARDIZED and model.settings.scaling != "standardized":
            stored = empty  # written before there were units and averages
        elif stored is None and name == "class_state" and not len(empty):
            stored = empty  # written before steps followed the classes
        elif stored is None and name in _SINCE_SHRINKAGE and (not len(empty) or _is_older(read)):
            stored = empty
        elif stored is not None:
            exact = name in _EXACT and model.settings.adaptive and stored.dtype.kind == "f"
            stored = _whole(name, stored.astype(empty.dtype) if exact else stored, empty, met, read)
        if stored is None or stored.shape != empty.shape or stored.dtype != empty.dtype:
            raise ValueError(f"the array {name!r} is missing or not what its settings say")
        if name not in _BY_FEATURE:
            found[name] = stored
        yield name, empty, stored
    model_schema.check_columns(model.features, found)
    model_schema.check_payments(found)


def _whole(
    name: str, stored: NDArray[Any], empty: NDArray[Any], met: NDArray[Any] | None, read: Read
) -> NDArray[Any] | None:
    """As long as in the model: files have a part of some. None if it does not fit."""
    if name == "state":
        return np.append(stored, np.zeros(max(len(empty) - len(stored), 0)))
    if name in _BY_COUNT and len(stored) <= len(empty):
        return np.concatenate([stored, empty[len(stored) :]])
    if met is not None and name in _BY_FEATURE and len(empty):
        fill = read("unit_fill") if name == "units" else None
        return _spread(stored, met, len(empty), 0.0 if fill is None else float(fill[0]))
    return stored


def _spread(stored: NDArray[Any], met: NDArray[Any], features: int, fill: float) -> NDArray[Any] | None:
    """What is stored of the features that were met, among those that were not; None if it does not fit."""
    if (
        stored.shape != met.shape
        or met.ndim != 1
        or (len(met) and not 0 <= met.min() <= met.max() < features)
    ):
        return None
    array = np.full(features, fill, stored.dtype) if fill else np.zeros(features, stored.dtype)
    array[met] = stored
    return array


def _metadata(path: Path, found: dict[str, str]) -> dict[str, Any]:
    text = found.get("steelyard")
    if text is None:
        raise ValueError(f"{path}: a safetensors file, but not one of steelyard's")
    try:
        about: dict[str, Any] = json.loads(text)
        if "\\ud" in text:  # perhaps half of a pair, which nobody could write again: a UnicodeEncodeError
            json.dumps(about, ensure_ascii=False).encode()
        newest = int(dict(about)["format"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise damaged(path, "its metadata make no sense") from None
    if newest > FORMAT:
        newer = f"written by a newer steelyard (format {newest}, this one reads up to {FORMAT})"
        raise ValueError(f"{path}: {newer}; upgrade")
    return about


def damaged(path: Path, why: str) -> ValueError:
    return ValueError(f"{path}: not a model file, or a damaged one ({why})")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Whatever goes wrong with what the file has: an error that names it."""
    from safetensors import SafetensorError

    try:
        yield
    except ValueError as error:
        raise error if str(path) in str(error) else damaged(path, str(error)) from None
    except (
        KeyError, TypeError, AttributeError, IndexError, OverflowError, MemoryError, SafetensorError,
    ) as error:  # fmt: skip
        raise damaged(path, repr(error)) from None
