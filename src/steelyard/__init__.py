"""Online learning in which an importance weight of h means exactly h copies of the example."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.engine.joined_labels import JoinedLabelsWarning
    from steelyard.engine.memory_needs import LargeModelWarning
    from steelyard.engine.totals import RowOrderWarning
    from steelyard.estimators import (
        ActiveClassifier,
        DistributedClassifier,
        OnlineClassifier,
        OnlineRegressor,
        Sweep,
    )
    from steelyard.learner import Learner
    from steelyard.scoring.absent_columns import AbsentColumnsWarning
    from steelyard.settings import Settings
    from steelyard.weight_summary import WeightWarning

__version__ = "0.2.0a1"
__all__ = [
    "AbsentColumnsWarning",
    "ActiveClassifier",
    "DistributedClassifier",
    "JoinedLabelsWarning",
    "LargeModelWarning",
    "Learner",
    "OnlineClassifier",
    "OnlineRegressor",
    "RowOrderWarning",
    "Settings",
    "Sweep",
    "WeightWarning",
    "__version__",
    "active",
    "estimators",
    "examples",
    "learner",
    "losses",
    "model",
    "schedules",
    "updates",
    "weight_summary",
]

# Whatever is asked for is imported then, and only then: `import steelyard` is instant.
_rooms = (
    "active",
    "estimators",
    "examples",
    "learner",
    "losses",
    "model",
    "schedules",
    "updates",
    "weight_summary",
)
_homes = {
    "AbsentColumnsWarning": "scoring.absent_columns",
    "ActiveClassifier": "estimators",
    "DistributedClassifier": "estimators",
    "JoinedLabelsWarning": "engine.joined_labels",
    "LargeModelWarning": "engine.memory_needs",
    "Learner": "learner",
    "OnlineClassifier": "estimators",
    "OnlineRegressor": "estimators",
    "RowOrderWarning": "engine.totals",
    "Settings": "settings",
    "Sweep": "estimators",
    "WeightWarning": "weight_summary",
}


def __getattr__(name: str) -> Any:
    if name in _homes:
        return getattr(importlib.import_module(f"steelyard.{_homes[name]}"), name)
    if name in _rooms:
        return importlib.import_module(f"steelyard.{name}")
    raise AttributeError(f"module 'steelyard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
