"""The scikit-learn surface: the only room that knows scikit-learn, imported when it is asked for."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.estimators.active import ActiveClassifier
    from steelyard.estimators.classifier import OnlineClassifier
    from steelyard.estimators.distributed import DistributedClassifier
    from steelyard.estimators.regressor import OnlineRegressor
    from steelyard.estimators.sweep import Sweep

__all__ = ["ActiveClassifier", "DistributedClassifier", "OnlineClassifier", "OnlineRegressor", "Sweep"]

_homes = {
    "ActiveClassifier": "active",
    "DistributedClassifier": "distributed",
    "OnlineClassifier": "classifier",
    "OnlineRegressor": "regressor",
    "Sweep": "sweep",
}


def __getattr__(name: str) -> Any:
    if name in _homes:
        return getattr(importlib.import_module(f"{__name__}.{_homes[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
