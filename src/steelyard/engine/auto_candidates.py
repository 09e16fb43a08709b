"""The candidates of `learning_rate="auto"`: the default rate and its neighbours.

They were chosen by how near their answer comes to the best of a large grid, on the sets of
`benchmarks.labelled` and `benchmarks.numeric`: see docs/auto-rate.md. With standardized scaling all of them
answer together (see `mixture`); with others the best by progressive loss does, and some of them decay.
"""

from collections.abc import Sequence
from dataclasses import replace

from steelyard.model import Settings

# Multiples of the default rate, power_t and initial_t. The first answers wherever it is as good.
CANDIDATES = (
    (1.0, 0.0, 1.0), (0.5, 0.0, 1.0), (2.0, 0.0, 1.0),
    (1.0, 0.25, 100.0), (2.0, 0.25, 100.0), (4.0, 0.25, 100.0),
)  # fmt: skip
# In units of their own, and averaged, models that decay bring nothing more: these answer together.
MIXED = tuple((2.0**power, 0.0, 1.0) for power in (0, -1, 1, -2, 2))
# Without scale-free rates the default rate is only a place to start from.
WIDE_RANGE = tuple((4.0**power, 0.0, 1.0) for power in (0, -1, 1, -2, -3, -4))


def candidates(settings: Settings, begun: Sequence[Settings] | None = None) -> list[Settings]:
    """The settings that compete; those that have begun keep the schedules they began with."""
    if settings.power_t != 0.0:
        raise ValueError(
            f"learning_rate='auto' tries several decays itself: leave power_t at 0; got {settings.power_t!r}"
        )
    rates = {"normalized": CANDIDATES, "standardized": MIXED}.get(settings.scaling, WIDE_RANGE)
    schedules = [(settings.rate * factor, *decay) for factor, *decay in rates]
    if begun is not None:
        schedules = [(each.rate, each.power_t, each.initial_t) for each in begun]
    return [
        replace(settings, learning_rate=rate, power_t=power_t, initial_t=initial_t)
        for rate, power_t, initial_t in schedules
    ]
