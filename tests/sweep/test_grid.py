"""Grids: what they expand to, and what is said of the rest."""

import re

import numpy as np
import pytest

from steelyard import losses
from steelyard.model import Settings
from steelyard.sweep import grid


def test_every_combination_in_order() -> None:
    base = Settings(scaling="plain")
    expanded = grid.expand(base, {"learning_rate": [1, 2.0], "update": ["explicit", "invariant"]})
    assert [tuple(point.params.values()) for point in expanded.points] == [
        (1, "explicit"), (1, "invariant"), (2.0, "explicit"), (2.0, "invariant"),
    ]  # fmt: skip
    assert expanded.notes == []
    assert all(point.settings.scaling == "plain" for point in expanded.points)
    assert isinstance(expanded.points[0].settings.learning_rate, float)


def test_several_dicts_and_numpy() -> None:
    expanded = grid.expand(
        Settings(), [{"l2": np.array([0.1, 0.2])}, {"bias": [False], "learning_rate": [None]}]
    )
    assert [point.params for point in expanded.points] == [
        {"l2": 0.1}, {"l2": 0.2}, {"bias": False, "learning_rate": None},
    ]  # fmt: skip
    assert type(expanded.points[0].params["l2"]) is float


def test_losses_by_name_and_as_instances() -> None:
    quantile = losses.by_name("quantile", tau=0.9)
    points = grid.expand(Settings(), {"loss": ["hinge", quantile]}).points
    assert [point.settings.loss for point in points] == [losses.by_name("hinge"), quantile]


def test_combinations_that_cannot_be_are_noted() -> None:
    expanded = grid.expand(
        Settings(), {"loss": ["squared", "hinge", "quantile"], "update": ["second_order", "invariant"]}
    )
    assert len(expanded.points) == 4
    assert [note.split(":")[0] for note in expanded.notes] == ["1 combination left out"] * 2


def test_the_same_settings_twice() -> None:
    expanded = grid.expand(Settings(), [{"l2": [0.0, 0.1, 0.0]}, {"l2": [0.1]}])
    assert len(expanded.points) == 2
    assert expanded.notes == ["2 combinations left out: the grid has the same settings elsewhere"]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({}, None, ""),
        ([], ValueError, "the grid is empty"),
        (
            {"rate": [1]},
            ValueError,
            "the grid has 'rate', over which there is no sweep; it goes over loss, update",
        ),
        ({"update": "explicit"}, TypeError, "give a list of values, ['explicit']"),
        ({"l2": 0.1}, TypeError, "give a list of values, [0.1]"),
        ({"l2": []}, ValueError, "the grid has no value for l2"),
        ({"loss": [3]}, TypeError, "the grid has the loss 3"),
        ({"l2": [0.1, -1.0]}, ValueError, "the grid has l2=-1.0, which no combination allows: l2 must be"),
        (
            {"loss": ["hinge"], "update": ["second_order", "explicit"]},
            ValueError,
            "the grid has update='second_order', which no combination allows",
        ),
    ],
)
def test_what_is_wrong_is_said(given: grid.Grid, error: type[Exception] | None, text: str) -> None:
    if error is None:
        assert len(grid.expand(Settings(), given).points) == 1
        return
    with pytest.raises(error, match=re.escape(text)):
        grid.expand(Settings(), given)
