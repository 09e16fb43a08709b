"""What estimators share: what they know when they have learned, all or nothing, and a link to their page."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _interrupts
from steelyard.engine.protocol import Engine
from steelyard.model import Model


def only_model(models: list[Model]) -> Model:
    """What `model_` is; an AttributeError where there are several."""
    if len(models) > 1:
        raise AttributeError(f"there is no one model_: there are {len(models)} models_, one for each class")
    return models[0]


class FittedAttributes:
    """All of this is the engine's. Before anything is learned, there are no such attributes."""

    _engine: Engine

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
        """What has learned; before there is any, the attribute does not exist."""
        if "_engine" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {attribute} before it is fitted")
        return self._engine


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Learning is all or nothing: whatever goes wrong, the estimator has the attributes it had."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """The same for learning in place: an interrupt in here is heard when everything is learned."""
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
