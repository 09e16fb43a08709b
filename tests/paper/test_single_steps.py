"""Single steps, judged."""

import pytest

from paper import single_steps
from paper.single_steps import Push
from steelyard import losses, updates

SQUARED, LOGISTIC, HINGE = (losses.by_name(name) for name in ("squared", "logistic", "hinge"))
EXPLICIT, INVARIANT = updates.by_name("explicit"), updates.by_name("invariant")


def test_an_explicit_step_goes_past_the_label_and_beyond_twice_the_way_makes_things_worse() -> None:
    near, far = Push(0.0, 1.0, 1.5), Push(0.0, 1.0, 2.5)
    assert single_steps.overshoots(SQUARED, EXPLICIT, near)
    assert not single_steps.makes_worse(SQUARED, EXPLICIT, near)
    assert single_steps.makes_worse(SQUARED, EXPLICIT, far)
    assert not single_steps.overshoots(SQUARED, EXPLICIT, Push(0.0, 1.0, 0.5))


def test_the_flow_never_does() -> None:
    for push in single_steps.draw_pushes(SQUARED, 200, 0):
        assert not single_steps.overshoots(SQUARED, INVARIANT, push)
        assert not single_steps.makes_worse(SQUARED, INVARIANT, push)
        assert single_steps.times_the_flow(SQUARED, INVARIANT, push) == 1.0


def test_past_the_hinge_is_too_far_and_logistic_loss_has_no_end() -> None:
    assert single_steps.overshoots(HINGE, EXPLICIT, Push(0.0, 1.0, 5.0))
    assert not single_steps.overshoots(LOGISTIC, EXPLICIT, Push(0.0, 1.0, 90.0))
    assert single_steps.times_the_flow(LOGISTIC, EXPLICIT, Push(0.0, 1.0, 90.0)) > 5.0


@pytest.mark.parametrize("name", losses.names())
def test_what_is_drawn_suits_the_loss(name: str) -> None:
    loss = losses.by_name(name)
    drawn = single_steps.draw_pushes(loss, 50, 0)
    assert all(loss.allows(push.y) and push.p in loss.domain and 1e-3 <= push.u <= 1e3 for push in drawn)
