"""The figure of the README: one example, each loss and update, with numbers worked out here."""

import math

import numpy as np
import pytest
from matplotlib.lines import Line2D

from docs import draw_weight_50
from docs.draw_weight_50 import WEIGHT, step_copies, step_once
from steelyard import losses, updates


def both(loss: str, update: str) -> tuple[float, float]:
    """After the weight in one step, and after as many copies."""
    return step_once(loss, update, WEIGHT), step_copies(loss, update, WEIGHT)[-1]


def test_squared() -> None:
    assert both("squared", "explicit") == pytest.approx((25.0, 1.0))
    assert both("squared", "implicit") == pytest.approx((25 / 26, 1.0))
    assert both("squared", "second_order") == pytest.approx((25 / 26, 1.0))
    assert both("squared", "invariant") == pytest.approx((1.0, 1.0), abs=1e-10)


def test_hinge() -> None:
    assert both("hinge", "explicit") == (25.0, 1.0)
    assert both("hinge", "implicit") == both("hinge", "invariant") == (1.0, 1.0)


def test_logistic() -> None:
    p = 0.0
    for _ in range(50):
        p += 0.5 / (1.0 + math.exp(p))
    assert both("logistic", "explicit") == pytest.approx((12.5, p))
    step, one_by_one = both("logistic", "invariant")
    assert step + math.expm1(step) == pytest.approx(25.0)  # δ + e^0·expm1(δ) = u
    assert one_by_one == pytest.approx(step, abs=1e-12)
    step, _ = both("logistic", "implicit")
    assert step == pytest.approx(25.0 / (1.0 + math.exp(step)))


@pytest.mark.parametrize("loss", losses.names())
def test_the_invariant_update_is_exact_for_every_loss(loss: str) -> None:
    step, one_by_one = both(loss, "invariant")
    assert step == pytest.approx(one_by_one, abs=1e-12)


def points(line: Line2D) -> dict[float, float]:
    return dict(zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True))


def test_lines_are_steps_and_dots_are_copies() -> None:
    figure = draw_weight_50.draw()
    panels = [axes for axes in figure.axes if axes.get_lines()]
    assert len(panels) == sum(len(updates.names_for(losses.by_name(loss))) for loss in draw_weight_50.LOSSES)
    explicit, implicit, *_, invariant = panels
    for axes, line_at_50, dot_at_50 in (
        (explicit, 25.0, 1.0),
        (implicit, 25 / 26, 1.0),
        (invariant, 1.0, 1.0),
    ):
        line, dots = (points(artist) for artist in axes.get_lines())
        nearest = min(line, key=lambda weight: abs(weight - 50.0))
        assert line[nearest] == pytest.approx(line_at_50, rel=0.03)
        assert dots[50.0] == pytest.approx(dot_at_50)


def test_the_axes_are_labelled() -> None:
    figure = draw_weight_50.draw()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "one step of weight $h$",
        "$h$ copies, one step each",
    ]
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert [title.replace("-", "_") for title in titles] == updates.names()
    labels = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
    assert labels == [f"{loss} loss\nprediction" for loss in draw_weight_50.LOSSES]
    assert [axes.get_xlabel() for axes in figure.axes].count("importance weight $h$") == len(titles)
