"""The steps on what the updates have in common: invariance with decaying rates, and where steps end."""

from paper import single_steps
from paper.single_steps import Push
from paper.study import Row, Step
from steelyard import losses, updates
from steelyard.losses import Loss
from steelyard.schedules import PowerDecay

TABLE = "table1_laws"
COUNT, SEED = 2_000, 0
FINITE = ("squared", "hinge", "quantile", "modified_huber")
"""The losses with a least prediction at a finite distance, to which a projection goes."""
_SCHEDULES = [PowerDecay(0.5, 10.0, power) for power in (0.0, 0.5, 1.0)]
_ROUNDING = 1e-9


def step(name: str) -> Step:
    inputs = {"count": COUNT, "seed": SEED}
    return Step(TABLE, name, inputs, lambda: [_row(name)])


def _row(name: str) -> Row:
    loss = losses.by_name(name)
    pushes = single_steps.draw_pushes(loss, COUNT, SEED)
    row: Row = {
        "loss": name,
        "pushes": COUNT,
        "decaying": max(_decaying(loss, push, i) for i, push in enumerate(pushes)),
        "implicit_from_flow": max(
            _apart(loss.implicit(x.p, x.y, x.u), loss.flow(x.p, x.y, x.u)) for x in pushes
        ),
        "implicit_in_two": max(_in_two(loss, push) for push in pushes),
    }
    if name in FINITE:
        row |= {
            "past_gradient": sum(_length(loss, x) > _gradient(loss, x) for x in pushes),
            "past_projection": sum(_length(loss, x) > _projection(loss, x) + _ROUNDING for x in pushes),
            "shorter_with_more": sum(_length(loss, x) > _length(loss, x, 1.1) + _ROUNDING for x in pushes),
            "small_push": max(_apart(_length(loss, x, 1e-9 / x.u), 1e-9 * _slope(loss, x)) for x in pushes),
            "large_push": max(_apart(_length(loss, x, 1e12), _projection(loss, x)) for x in pushes),
        }
    return row


def _decaying(loss: Loss, push: Push, number: int) -> float:
    """Weight a + b at once against a, then b, where the rate decays over weighted time."""
    schedule = _SCHEDULES[number % len(_SCHEDULES)]
    a, b = 0.3 * push.u, 0.7 * push.u
    once = loss.flow(push.p, push.y, schedule.integral(5.0, a + b))
    first = loss.flow(push.p, push.y, schedule.integral(5.0, a))
    second = loss.flow(push.p + first, push.y, schedule.integral(5.0 + a, b))
    return _apart(first + second, once)


def _in_two(loss: Loss, push: Push) -> float:
    implicit = updates.by_name("implicit").change
    first = implicit(loss, push.p, push.y, 0.3 * push.u)
    second = implicit(loss, push.p + first, push.y, 0.7 * push.u)
    return _apart(first + second, implicit(loss, push.p, push.y, push.u))


def _apart(one: float, other: float) -> float:
    """Relative to the other; to 1 where it is tiny."""
    return abs(one - other) / max(abs(other), 1e-6)


def _slope(loss: Loss, push: Push) -> float:
    return abs(loss.derivative(push.p, push.y))


def _length(loss: Loss, push: Push, times: float = 1.0) -> float:
    return abs(loss.flow(push.p, push.y, times * push.u))


def _gradient(loss: Loss, push: Push) -> float:
    return push.u * _slope(loss, push) * (1.0 + _ROUNDING) + _ROUNDING


def _projection(loss: Loss, push: Push) -> float:
    """The step to the nearest prediction without loss: the passive-aggressive step."""
    if loss.allows(0.0):  # labels are numbers, and the loss is least at the label alone
        return abs(push.y - push.p)
    return max(1.0 - push.y * push.p, 0.0)
