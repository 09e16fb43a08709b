"""Probabilities, for every loss in the registry that has them."""

import math

import numpy as np
import pytest

from steelyard import losses
from steelyard.losses import Loss, OneOf

ALL = [losses.by_name(name) for name in losses.names()]
WITH = [loss for loss in ALL if type(loss).probability is not Loss.probability]
WITHOUT = [loss for loss in ALL if loss not in WITH]
PREDICTIONS = [-800.0, -3.0, -1e-9, 0.0, 0.2, 0.5, 0.9, 1.0, 2.0, 800.0]


def pair(loss: Loss) -> tuple[float, ...]:
    assert isinstance(loss.labels, OneOf)
    return loss.labels.values


def test_which_losses_have_them() -> None:
    assert {losses.name_of(loss) for loss in WITH} >= {
        "hellinger", "logarithmic", "logistic", "tanh_logarithmic",
    }  # fmt: skip


@pytest.mark.parametrize("loss", WITHOUT, ids=repr)
def test_others_say_so(loss: Loss) -> None:
    with pytest.raises(NotImplementedError, match=f"{type(loss).__name__} has no probabilities"):
        loss.probability(0.0, 1.0)


@pytest.mark.parametrize("loss", WITH, ids=repr)
def test_two_labels_share_one(loss: Loss) -> None:
    low, high = pair(loss)
    for p in PREDICTIONS:
        assert 0.0 <= loss.probability(p, low) <= 1.0
        assert math.isclose(loss.probability(p, low) + loss.probability(p, high), 1.0, rel_tol=1e-15)


@pytest.mark.parametrize("loss", WITH, ids=repr)
def test_a_larger_prediction_makes_the_larger_label_likelier(loss: Loss) -> None:
    _, high = pair(loss)
    assert np.all(np.diff([loss.probability(p, high) for p in PREDICTIONS]) >= 0.0)
    assert loss.probability(0.9, high) > 0.5 > loss.probability(-3.0, high)


@pytest.mark.parametrize("loss", WITH, ids=repr)
def test_the_middle(loss: Loss) -> None:
    middle = 0.5 if math.isfinite(loss.domain.low) else 0.0
    assert [loss.probability(middle, y) for y in pair(loss)] == [0.5, 0.5]


@pytest.mark.parametrize("name", ["logistic", "tanh_logarithmic", "logarithmic"])
def test_a_logarithmic_loss_is_minus_its_logarithm(name: str) -> None:
    loss = losses.by_name(name)
    for p in (0.01, 0.2, 0.5, 0.9):
        for y in pair(loss):
            assert math.isclose(loss.value(p, y), -math.log(loss.probability(p, y)), rel_tol=1e-12)
