"""The arrays of a model file: they are read one by one, checked, and put into models; `compact` selects what is stored.

A model that has met few of its features stores those only (since format 2). Predictions need fewer arrays than
learning: `StoredModel` reads only these.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard import array_table, feature_columns, model_schema
from steelyard.array_table import ARRAYS, Arrays, ModelArray
from steelyard.learn import linear, shrinkage
from steelyard.model import Model, epochs_begun
from steelyard.settings import Settings

Read = Callable[[str], NDArray[Any] | None]

FORMAT = 7  # the newest that this release reads
_MAPPED = 16 << 20  # bytes of a file that may be in memory beside the arrays made from them


class ArrayFile:
    """An open model file: its metadata, and its arrays by name, read when they are asked for."""

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
        """Return a copy of an array; None if there is none of that name."""
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
        """Return `read` for names with this prefix, which is left out."""
        return lambda name: self.read(prefix + name)

    def all_under(self, prefix: str) -> Arrays:
        """Read all arrays whose names have this prefix."""
        arrays = {name: self.read(name) for name in sorted(self.names) if name.startswith(prefix)}
        return {name: array for name, array in arrays.items() if array is not None}

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
    """A model with the arrays that predictions need, and without those that only learning needs."""

    raw_coefficients = units = lag = np.zeros(0)  # arrays, not views as in models that learn

    def __init__(self, settings: Settings, features: int, read: Read) -> None:
        small = min(features, feature_columns.MOST)
        super().__init__(settings, small)
        self.features = features
        if len(self.payments):
            self.payments = shrinkage.payments_for(features)
        one, needed = Model(settings, 1), [array for array in ARRAYS if array.to_predict]
        for array in needed:
            if array.by_feature:
                array.replace(self, _repeated(array.of(one), features))
        for array, empty, stored in _checked(self, read, needed):
            if array.by_feature:
                array.replace(self, stored)
            else:
                empty[...] = stored
        _mend_averages(self, read)
        _mend_fading(self, read)


def _repeated(array: NDArray[Any], features: int) -> NDArray[Any]:
    """Return zeros for all features in the memory of one; nothing if the array is empty."""
    return np.broadcast_to(array[:1], (features, *array.shape[1:])) if len(array) else array


def fill(model: Model, read: Read) -> Model:
    """Read the arrays that `compact` has stored into a model of the same settings."""
    if read("gained") is not None:
        model.hold_gains()
    for _, empty, stored in _checked(model, read):
        empty[...] = stored
    _mend_averages(model, read)
    _mend_fading(model, read)
    _begin_epochs(model, read)
    return model


def _mend_averages(model: Model, read: Read) -> None:
    """Let averages of files of format 5 and older begin anew: those left out L1 and L2."""
    if model.settings.averages_shrink and _is_older(read, array_table.SHRINKAGE):
        model.raw_coefficients[...], _ = model.last_and_behind()
        model.lag[...] = 0.0
        model.l1_applied[...] = 0.0
        model.state[[linear.SCALE, linear.L1_TOTAL, linear.BIAS_LAG]] = 1.0, 0.0, 0.0


def _mend_fading(model: Model, read: Read) -> None:
    """Adapt averages of older files, in which an open epoch did not count as a whole."""
    state = model.state
    if _is_older(read, array_table.EPOCHS) and model.clock > 0.0:
        state[linear.REFERENCE] *= epochs_begun(model.clock) / model.clock


def _is_older(read: Read, than: int) -> bool:
    """Return whether the file has a shorter state: see `array_table`."""
    state = read("state")
    return state is not None and len(state) < than


def _begin_epochs(model: Model, read: Read) -> None:
    """Set the state of the epoch (see `learn.clock`), which files of format 6 and older do not have."""
    if _is_older(read, array_table.EPOCHS):
        model.set_clock(model.clock)
    model_schema.check_clock(model.state)
    model.list_gains()


def compact(model: Model) -> Arrays:
    """Return the arrays as files store them: if few features were met, with the numbers of those only."""
    arrays = model.arrays()
    arrays["weights"] = arrays["weights"].astype(model.settings.dtype, copy=False)  # their precision
    if model.state[linear.FRACTION] == 0.0 or not len(model.gained):
        del arrays["gained"]
    by_feature = [array.name for array in ARRAYS if array.by_feature and len(arrays.get(array.name, ()))]
    met = np.flatnonzero(array_table.met(model, by_feature))
    for array in ARRAYS:
        if array.count is not None:
            counts, index = array.count
            arrays[array.name] = arrays[array.name][: int(arrays[counts][index])]
    if not model.settings.in_epochs:  # so that older releases can read it
        arrays["state"] = arrays["state"][: array_table.STANDARDIZED]
        for name in (array.name for array in ARRAYS if array.exact):
            arrays[name] = arrays[name].astype(model.settings.dtype, copy=False)
    if 2 * len(met) > model.features:
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return arrays | {name: arrays[name][met] for name in by_feature} | {"met": met}


def _checked(
    model: Model, read: Read, wanted: Sequence[ModelArray] = ARRAYS
) -> Iterator[tuple[ModelArray, NDArray[Any], NDArray[Any]]]:
    """Yield each wanted array with its memory in the model and its stored numbers."""
    met = read("met")
    own = model.arrays()
    checked: Arrays = {}
    for array in wanted:
        name, empty, stored = array.name, own[array.name], read(array.name)
        if stored is not None:
            exact = array.exact and (model.settings.adaptive or not len(empty)) and stored.dtype.kind == "f"
            stored = _whole(array, stored.astype(empty.dtype) if exact else stored, empty, met, read)
        elif not len(empty) or _is_older(read, array.since):
            stored = empty
        if stored is None or stored.shape != empty.shape or stored.dtype != empty.dtype:
            raise ValueError(f"the array {name!r} is missing or not what its settings say")
        if not array.by_feature:
            checked[name] = stored
        yield array, empty, stored
    model_schema.check_columns(model.features, checked)
    model_schema.check_payments(checked)


def _whole(
    array: ModelArray, stored: NDArray[Any], empty: NDArray[Any], met: NDArray[Any] | None, read: Read
) -> NDArray[Any] | None:
    """Extend an array to its length in the model, as files store only a part of some; None if it does not fit."""
    if (array.grows or array.count is not None) and len(stored) <= len(empty):
        return np.concatenate([stored, empty[len(stored) :]])
    if met is not None and array.by_feature and len(empty):
        unmet = None if array.unmet is None else read(array.unmet)
        return _spread(stored, met, len(empty), 0.0 if unmet is None else float(unmet[0]))
    return stored


def _spread(stored: NDArray[Any], met: NDArray[Any], features: int, fill: float) -> NDArray[Any] | None:
    """Put the numbers of met features among those that were not met; None if they do not fit."""
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
        if "\\ud" in text:  # perhaps a lone surrogate, which could not be written again: a UnicodeEncodeError
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
    """Turn errors about the content of a file into ones that name the file."""
    from safetensors import SafetensorError

    try:
        yield
    except ValueError as error:
        raise error if str(path) in str(error) else damaged(path, str(error)) from None
    except (
        KeyError, TypeError, AttributeError, IndexError, OverflowError, MemoryError, SafetensorError,
    ) as error:  # fmt: skip
        raise damaged(path, repr(error)) from None
