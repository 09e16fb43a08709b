"""The fitted state of estimators, the attributes that follow from it, all-or-nothing learning, a link to their page.

`fit`, files, sweeps and saved models put a `FittedState` into an estimator (`set_state`) and take it out
(`state_of`): nothing else touches the attribute in which it is kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from steelyard import _interrupts
from steelyard.engine.calibration import Calibration
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.engine.protocol import Engine
from steelyard.model import Model

if TYPE_CHECKING:
    from steelyard.features import Names


@dataclass(frozen=True)
class FittedState:
    """The models of an estimator, and what goes with them. It is replaced, never changed, so learning can be undone."""

    engine: Engine
    names: Optional["Names"] = None
    """The names of features, from files."""
    calibration: ProgressiveCalibration | None = None
    """Fitted to progressive predictions; it goes on with the model."""
    held_out_calibration: Calibration | None = None
    """Fitted to rows held out; it stays, and replaces the other one."""


def state_of(estimator: Any) -> FittedState | None:
    """Return the state of an estimator; None before it is fitted."""
    state: FittedState | None = vars(estimator).get("_fitted_state")
    return state


def fitted_state(estimator: Any) -> FittedState:
    """Return the state of an estimator; a NotFittedError before it is fitted."""
    check_is_fitted(estimator, "_fitted_state")
    state = state_of(estimator)
    assert state is not None
    return state


def set_state(estimator: Any, state: FittedState) -> None:
    """Let the estimator continue from this state."""
    estimator._fitted_state = state


def drop_state(estimator: Any) -> None:
    """Let the estimator begin anew."""
    vars(estimator).pop("_fitted_state", None)


def count_classes(estimator: Any) -> int:
    """Return the number of classes; 0 where labels are numbers."""
    return len(getattr(estimator, "classes_", ()))


def only_model(models: list[Model]) -> Model:
    """Return the one model; an AttributeError where there are several."""
    if len(models) > 1:
        raise AttributeError(f"there is no one model_: there are {len(models)} models_, one for each class")
    return models[0]


class FittedAttributes:
    """Attributes that the engine gives. They do not exist before anything is learned."""

    @property
    def progressive_loss_(self) -> float:
        """The mean loss of predictions made before their row was learned, by weight; first pass only."""
        engine = self._fitted("progressive_loss_")
        return float(engine.progressive_loss[engine.best])

    @property
    def model_(self) -> Model:
        """The model: coefficients, accumulators and clock."""
        return only_model(self._fitted("model_").models())

    @property
    def models_(self) -> list[Model]:
        """One for each class; for two classes, or numbers, one in all."""
        return self._fitted("models_").models()

    @property
    def learning_rate_(self) -> float:
        """The learning rate of the model: as given, that of the loss, or of several the best one's."""
        engine = self._fitted("learning_rate_")
        return engine.settings[engine.best].rate

    @property
    def power_t_(self) -> float:
        """How that rate decays."""
        engine = self._fitted("power_t_")
        return engine.settings[engine.best].power_t

    @property
    def auto_results_(self) -> dict[str, NDArray[np.float64]]:
        """With `learning_rate="auto"`: the rates that competed, one a row, their figures and their shares."""
        engine = self._fitted("auto_results_")
        if len(engine.settings) == 1:
            raise AttributeError("there are no auto_results_ without learning_rate='auto'")
        results = {
            "learning_rate": np.array([each.rate for each in engine.settings]),
            "power_t": np.array([each.power_t for each in engine.settings]),
            "initial_t": np.array([each.initial_t for each in engine.settings]),
            "progressive_loss": engine.progressive_loss,
        }
        if hasattr(self, "classes_"):
            results["progressive_error"] = engine.progressive_error
        return results | {"share": engine.shares}

    def _fitted(self, attribute: str) -> Engine:
        """Return the engine; before it exists, this attribute does not exist either."""
        state = state_of(self)
        if state is None:
            raise AttributeError(f"{type(self).__name__} has no {attribute} before it is fitted")
        return state.engine


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Restore the attributes of the estimator on any error: learning is all or nothing."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Change nothing if learning fails, and hold interrupts back until everything is learned."""
    with _interrupts.deferred(), unchanged_on_error(estimator):
        yield


class DocumentationLink:
    """The question mark in the HTML picture of an estimator leads to its page.

    `_page` is a page of the documentation whose address the package names; without one, no link.
    """

    _page = "estimators"

    def _get_doc_link(self) -> str:
        address = _address()
        return f"{address.rstrip('/')}/{self._page}/" if address else ""


@cache
def _address() -> str:
    try:
        named = metadata.metadata("steelyard").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from a folder
        named = []
    addresses: dict[str, str] = dict(entry.split(", ", 1) for entry in named)
    return addresses.get("Documentation", "")
