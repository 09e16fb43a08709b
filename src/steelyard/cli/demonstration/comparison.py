"""One example with a weight against as many copies of it, under every update a loss can have.

The example has the one feature x = 1 and the label 1, the model starts at 0 and so predicts 0, and
the learning rate is constant. Hence the push of weight h is u = η·h.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard import losses, updates
from steelyard.schedules import PowerDecay

LOSSES = ("squared", "logistic", "hinge")
RATE = 0.5
WEIGHT = 50
LABEL = 1.0
START = 0.0

_schedule = PowerDecay(learning_rate=RATE, power_t=0.0)


@dataclass(frozen=True)
class Curve:
    """Where one update takes the prediction with many weights: pairs of weight and prediction."""

    loss: str
    update: str
    at_once: tuple[tuple[float, float], ...]
    copies: tuple[tuple[int, float], ...]


def curves(loss: str, weights: Sequence[float], counts: Sequence[int]) -> list[Curve]:
    """One curve for each update that the loss can have."""
    found = []
    for update in updates.names_for(losses.by_name(loss)):
        one_by_one = copies(loss, update, max(counts))
        found.append(
            Curve(
                loss,
                update,
                at_once=tuple((weight, at_once(loss, update, weight)) for weight in weights),
                copies=tuple((count, one_by_one[count - 1]) for count in counts),
            )
        )
    return found


def at_once(loss: str, update: str, weight: float) -> float:
    """The prediction after one step with this weight."""
    push = _schedule.integral(0.0, weight)
    return START + updates.by_name(update).change(losses.by_name(loss), START, LABEL, push)


def copies(loss: str, update: str, count: int) -> list[float]:
    """The predictions after 1, 2, …, `count` steps of weight 1."""
    predictions = []
    p = START
    for t in range(count):
        push = _schedule.integral(t, 1.0)
        p += updates.by_name(update).change(losses.by_name(loss), p, LABEL, push)
        predictions.append(p)
    return predictions
