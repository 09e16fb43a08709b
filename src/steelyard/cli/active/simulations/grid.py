"""The paper's way: every schedule and every C₀ is a learner of its own, and the best are chosen in hindsight.

Squared loss, rates divided by x·x, no bias, every answer learned once. The 198 schedules are those of
`steelyard sweep --paper`. IWAL has ten values of C₀, margin ten distances, random ten probabilities.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from steelyard import losses
from steelyard.active import curves
from steelyard.active.simulation import Asker, Simulation
from steelyard.active.strategies import UPDATES
from steelyard.cli.active.simulations.labelled_rows import LabelledRows
from steelyard.cli.active.simulations.trials import budgets
from steelyard.cli.sweeps.running import PAPER
from steelyard.model import Settings
from steelyard.sweep import plan

PARAMETERS = {
    "iwal": [10.0**power for power in range(-8, 2)],
    "margin": [2.0**power for power in range(-8, 2)],
    "random": [2.0 ** (0.9 * power) for power in range(-9, 1)],
}
_SCHEDULES = list(product(PAPER["learning_rate"], PAPER["initial_t"], PAPER["power_t"]))


def run(rows: LabelledRows, given: dict[str, Any], tick: Callable[[], None]) -> dict[str, Any]:
    """For each fraction and policy the least error, over all shuffles; and each policy's hulls."""
    fractions = sorted(given["fractions"])
    found: dict[str, list[curves.Points]] = {policy: [] for policy in given["policies"]}
    for seed in range(given["seeds"]):
        learned, tested = rows.split(seed, given["holdout"])
        budgets(fractions, len(learned))  # looks at them
        for policy in given["policies"]:
            points = []
            for askers in _rounds(policy, learned.features):
                simulation = Simulation(askers, learned.features, seed=seed)
                simulation.learn(learned)
                trials = np.column_stack([simulation.asked / len(learned), simulation.errors(tested)])
                points.append(trials[~simulation.diverged])  # the diverged ask no more: that is no thrift
            found[policy].append(np.concatenate(points))
            tick()
    return {
        "results": [_entry(fraction, policy, found[policy]) for fraction in fractions for policy in found],
        "hulls": {
            policy: [curves.hull(*points.T).tolist() for points in shuffles]
            for policy, shuffles in found.items()
        },
    }


def count(given: dict[str, Any]) -> int:
    """How often `run` ticks."""
    return int(given["seeds"] * len(given["policies"]))


def settings_tried(policy: str) -> int:
    return len(_SCHEDULES) * len(PARAMETERS["iwal" if policy in UPDATES else policy])


def _rounds(policy: str, features: int) -> Iterator[list[Asker]]:
    """As many askers at once as their weights fit into memory."""
    loss = losses.by_name("squared")
    kind = "iwal" if policy in UPDATES else policy
    update = UPDATES.get(policy, "invariant")
    askers = [
        Asker(Settings(loss, update, "row_norm", *schedule, bias=False), kind, parameter)
        for parameter in PARAMETERS[kind]
        for schedule in _SCHEDULES
    ]
    together = plan.plan([asker.settings for asker in askers], features, 2, plan.memory_of(None))
    for numbers in together.rounds:
        yield [askers[number] for number in numbers]


def _entry(fraction: float, policy: str, shuffles: list[curves.Points]) -> dict[str, Any]:
    """Of all that asked for no more than the fraction; None where in some shuffle none did."""
    within = [points[points[:, 0] <= fraction, 1] for points in shuffles]
    errors = [float(each.min()) for each in within if len(each)]
    known = len(errors) == len(shuffles)
    return {
        "fraction": fraction,
        "policy": policy,
        "settings": settings_tried(policy),
        "error": float(np.mean(errors)) if known else None,
        "low": min(errors) if known else None,
        "high": max(errors) if known else None,
    }
