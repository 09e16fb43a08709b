"""Models and their settings."""

from dataclasses import dataclass

import numpy as np
import pytest

from steelyard import losses
from steelyard.array_table import ARRAYS
from steelyard.learn import linear
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.settings import SCALINGS, Settings


def test_a_rate_that_is_not_given_is_that_of_the_loss() -> None:
    for name in losses.names():
        loss = losses.by_name(name)
        usual = Settings(loss).rate / loss.default_learning_rate
        assert Settings(loss).schedule().learning_rate == Settings(loss).rate
        assert usual == pytest.approx(1.0 if Settings(loss).has_class_factor else 1.5)
        assert Settings(loss, scaling="normalized").rate == loss.default_learning_rate
        for scaling in ("plain", "row_norm", "adaptive"):
            assert Settings(loss, scaling=scaling).rate == 0.4
    assert Settings(losses.ModifiedHuber()).rate == 0.4
    assert Settings(learning_rate=0.125).rate == 0.125
    assert Settings(Own(), scaling="normalized").rate == Loss.default_learning_rate
    # the same loss with the prediction halved
    assert losses.Logistic.default_learning_rate == 2.0 * losses.TanhLogarithmic.default_learning_rate


def test_a_model_that_learned_nothing() -> None:
    fresh = Model(Settings(), 3)
    assert np.isnan(fresh.progressive_loss)
    assert fresh.clock == fresh.bias == 0.0
    assert not fresh.coefficients().any()
    plain = Model(Settings(scaling="plain"), 3)
    assert np.shares_memory(plain.coefficients(), plain.raw_coefficients)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"scaling": "plane"},
            "there is no scaling 'plane'; it is one of plain, row_norm, adaptive, normalized",
        ),
        ({"dtype": "float16"}, "there is no dtype 'float16'; it is one of float32, float64"),
        ({"update": "second_order", "loss": losses.Hinge()}, "Hinge has no second_order update"),
        ({"l1": -1.0}, "l1 must be a finite number, 0 or more; got -1.0"),
        ({"l2": float("nan")}, "l2 must be a finite number, 0 or more; got nan"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number, positive; got 0.0"),
    ],
)
def test_bad_settings(change: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=message):
        Settings(**change)


@dataclass(frozen=True)
class Own(Loss):
    width: float = 1.0

    def value(self, p: float, y: float) -> float:
        return self.width * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return 2.0 * self.width * (p - y)


class Half(Loss):
    def value(self, p: float, y: float) -> float:
        return abs(p - y)


def test_a_loss_must_be_whole() -> None:
    with pytest.raises(ValueError, match=r"the loss Half must define derivative\(p, y\)"):
        Settings(Half())
    with pytest.raises(TypeError, match="the loss Own has width='a': it must be a number"):
        Settings(Own(width="a"))  # type: ignore[arg-type]


def test_memory_a_feature() -> None:
    """4 bytes for plain and row_norm, 16 for adaptive, 20 for normalized, 28 for standardized."""
    for scaling, expected in zip(SCALINGS, (4, 4, 16, 20, 28), strict=True):
        model = Model(Settings(scaling=scaling), 1000)
        assert sum(array.of(model).nbytes for array in ARRAYS if array.by_feature) == 1000 * expected


@pytest.mark.parametrize("reference", [1e300, np.inf])
def test_averages_whose_times_make_no_sense(reference: float) -> None:
    model = Model(Settings(scaling="standardized"), 2)
    model.state[[linear.CLOCK, linear.REFERENCE]] = 1.0, reference
    with pytest.raises(ValueError, match="a damaged model: the times of its averages"):
        _ = model.bias
