"""Every parameter that is a number refuses truth values, texts and the like, wherever it is given."""

import inspect
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import pytest

from steelyard import ActiveClassifier, OnlineClassifier, OnlineRegressor, Settings, losses
from steelyard.schedules import PowerDecay

WRONG: list[Any] = [True, False, np.True_, "1", [1.0], np.ones(2), 1j, {}]
ELSEWHERE = {"random_state", "verbose", "class_weight"}  # the first two are of scikit-learn, which takes much
ESTIMATORS: list[Any] = [OnlineClassifier, OnlineRegressor, ActiveClassifier]


def numeric(kind: Any) -> list[str]:
    """Parameters whose default, or whose type, is a number."""
    given = inspect.signature(kind).parameters.values()
    return [
        each.name
        for each in given
        if each.name not in ELSEWHERE
        and not isinstance(each.default, bool)
        and ("int" in str(each.annotation) or "float" in str(each.annotation))
    ]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ESTIMATORS for name in numeric(kind)])
def test_estimators(kind: Any, name: str, wrong: Any) -> None:
    given = {"classes": [0, 1], "budget": 2} if kind is ActiveClassifier else {}
    estimator = kind(**(given | {name: wrong}))
    begin = estimator.pool if kind is ActiveClassifier else partial(estimator.fit, y=np.array([0, 1, 0, 1]))
    with pytest.raises((TypeError, ValueError)):
        begin(np.eye(4))


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("kind", [Settings, PowerDecay])
def test_settings_and_schedules(kind: Any, wrong: Any) -> None:
    numbers = [field.name for field in fields(kind) if "float" in str(field.type) or "int" in str(field.type)]
    assert numbers
    for name in numbers:
        with pytest.raises((TypeError, ValueError)):
            kind(**{name: wrong})


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    ("name", "parameter"), [(name, each) for name in losses.names() for each in losses.parameters(name)]
)
def test_losses(name: str, parameter: str, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Settings(losses.by_name(name, **{parameter: wrong}))


SWITCHES = [
    (kind, each.name)
    for kind in ESTIMATORS
    for each in inspect.signature(kind).parameters.values()
    if isinstance(each.default, bool)
    and each.name in ("fit_intercept", "shuffle", "early_stopping", "calibrate", "warm_start")
]


@pytest.mark.parametrize("wrong", ["no", "False", 1, 0.0, None, [True]], ids=repr)
@pytest.mark.parametrize(("kind", "name"), SWITCHES)
def test_switches_are_true_or_false(kind: Any, name: str, wrong: Any) -> None:
    """A text is true, also if it is "no"."""
    given = {"classes": [0, 1], "budget": 2} if kind is ActiveClassifier else {}
    estimator = kind(**(given | {name: wrong}))
    begin = estimator.pool if kind is ActiveClassifier else partial(estimator.fit, y=np.array([0, 1, 0, 1]))
    with pytest.raises(TypeError, match=f"{name} must be True or False; got "):
        begin(np.eye(4))


@pytest.mark.parametrize("wrong", [True, "2", None, [1.0]], ids=repr)
def test_class_weights_are_numbers(wrong: Any) -> None:
    with pytest.raises(ValueError, match="the class weight of 0 must be finite and not negative; got"):
        OnlineClassifier(class_weight={0: wrong}).fit(np.eye(4), [0, 1, 0, 1])
