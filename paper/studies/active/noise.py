"""The steps on noise and time: labels that an adversary turned, and how long asking takes."""

import time
from functools import partial
from itertools import product

import numpy as np

from paper import data
from paper.studies.active import trials
from paper.studies.active.trials import C0, TrialRows, TrialStream, settings, short
from paper.study import Row, Scope, Step
from steelyard import Learner
from steelyard.active.simulation import Asker, Simulation
from steelyard.examples import Examples, examples

TABLE = "active_noise"
NOISES = ("none", "random", "adversarial")
NOISY = 0.1
"""The share of labels that are turned."""
LINK, UPDATE, CONSTANTS = "clipped", "invariant", "practice"
_SCHEDULES = list(product((1.0, 4.0, 16.0), (1e2, 1e4, 1e6), (0.5, 1.0)))
_REFERENCE = (1.0, 1e4, 0.5)


def steps(scope: Scope) -> list[Step]:
    found = [(trials.streams(place, scope)[0], noise) for place, noise in product(data.PLACES, NOISES)]
    return [
        Step(TABLE, f"{data.name(stream.place)} {noise}", stream.inputs, partial(rows, stream, noise))
        for stream, noise in found
    ]


def rows(stream: TrialStream, noise: str) -> list[Row]:
    """Learn with some active learners and as many passive ones, on labels of which a tenth is turned."""
    shown, tested = stream.load()
    learned = examples(shown.matrix, _turn(shown, noise, stream.shuffle))
    unseen = examples(*tested)
    found: list[Row] = []
    for strategy in ("iwal", "random"):
        grid = list(product(C0, _SCHEDULES))
        ways = [
            Asker(settings(LINK, UPDATE, schedule), strategy, c0 if strategy == "iwal" else 1.0)
            for c0, schedule in grid
        ]
        _simulate(ways, learned.take(np.arange(50)))  # compiled before the clock runs
        start = time.process_time()
        simulation = _simulate(ways, learned)
        seconds = time.process_time() - start
        found += [
            {
                **stream.columns,
                "noise": noise,
                "way": "active" if strategy == "iwal" else "passive",
                "c0": c0,
                "fraction": short(asked / len(learned)),
                "error": short(error),
                "nanoseconds": 1e9 * seconds / len(learned) / len(ways),
            }
            for (c0, _), asked, error in zip(grid, simulation.asked, simulation.errors(unseen), strict=True)
        ]
    return found


def _simulate(ways: list[Asker], learned: Examples) -> Simulation:
    simulation = Simulation(ways, learned.features, constants=CONSTANTS)
    simulation.learn(learned)
    return simulation


def _turn(shown: TrialRows, noise: str, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The adversary turns the labels of which a learner of the true ones is surest: nothing misleads more."""
    labels = shown.labels.copy()
    count = round(NOISY * len(labels))
    if noise == "random":
        turned = np.random.default_rng(seed).permutation(len(labels))[:count]
    elif noise == "adversarial":
        turned = np.argsort(-np.abs(_reference(shown)))[:count]
    else:
        return labels
    labels[turned] *= -1.0
    return labels


def _reference(shown: TrialRows) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    learner = Learner(settings(LINK, UPDATE, _REFERENCE), shown.matrix.shape[1])
    learner.learn(examples(*shown))
    return learner.predict(examples(shown.matrix))
