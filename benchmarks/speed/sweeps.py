"""A whole grid of learning rates in one pass, against one model after the other.

The grid is that of the paper: 198 schedules, rates divided by x·x. Of contenders that learn them one by
one a sample is timed, evenly spread over the grid, and its time counted up.
"""

import warnings
from itertools import product

import numpy as np

from benchmarks.support.generate import DataSet
from benchmarks.support.timing import WALL, Contender, Row, Stopwatch, Table, Target, Times, alternate, ratio
from steelyard import losses
from steelyard.engine.model_set import ModelSet
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings

SCHEDULES = list(product((2.0**i for i in range(11)), (10.0**i for i in range(9)), (0.5, 1.0)))
UPDATES = ("invariant", "implicit", "explicit")
_SAMPLE = SCHEDULES[5::11]  # 18
_FEW = SCHEDULES[16::33]  # 6


def settings(
    loss: str, update: str, schedules: list[tuple[float, float, float]], bias: bool = True
) -> list[Settings]:
    kind = losses.by_name(loss)
    return [Settings(kind, update, "row_norm", *schedule, bias=bias) for schedule in schedules]


def table(data: DataSet, repeats: int) -> Table:
    """One grid for every loss and update; then the same on two threads, and by scikit-learn."""
    rows: list[Row] = []
    times: Times = {}
    for loss in ("squared", "logistic"):
        for update in UPDATES:
            name = f"{loss} {update}"
            contenders = [
                _abreast(data, loss, update, 1, f"{name}, lanes"),
                _one_by_one(data, loss, update, f"{name}, alone"),
            ]
            if update == "invariant":
                contenders.append(_abreast(data, loss, update, 2, f"{name}, two threads"))
                contenders.append(_scikit_learn(data, loss, f"{name}, scikit-learn"))
            times |= alternate(contenders, repeats)
            rows.append(
                _row(
                    times,
                    f"{name}, lanes",
                    f"{name}, alone",
                    "198 schedules abreast, one thread",
                    Target(4.0),
                )
            )
    for loss in ("squared", "logistic"):
        name = f"{loss} invariant"
        two, one = f"{name}, two threads{WALL}", f"{name}, lanes{WALL}"
        rows.append(_row(times, two, one, "two threads, on the wall", Target(1.7)))
        rows.append(
            _row(times, f"{name}, lanes", f"{name}, scikit-learn", "partial_fit in a loop", Target(10.0))
        )
    for update in UPDATES:
        ours, theirs = f"logistic {update}, lanes", f"squared {update}, lanes"
        slower = 1.0 / ratio(times, ours, theirs)
        rows.append(
            Row(
                ours,
                theirs,
                _seconds(times, ours),
                _seconds(times, theirs),
                slower,
                Target(2.0, at_least=False),
            )
        )
    return Table(
        f"(g) sweeps, {data.name}", "ratio", rows,
        (
            f"Seconds for all {len(SCHEDULES)} models. Of those learned alone {len(_SAMPLE)} were timed, "
            f"by scikit-learn {len(_FEW)}.",
            "The last rows: how many times longer the logistic loss takes than the squared one.",
        ),
    )  # fmt: skip


def _row(times: Times, ours: str, theirs: str, what: str, target: Target) -> Row:
    return Row(
        f"{ours.split(',')[0]}: {what}", theirs, _seconds(times, ours), _seconds(times, theirs),
        ratio(times, ours, theirs), target,
    )  # fmt: skip


def _seconds(times: Times, name: str) -> str:
    return f"{np.median(times[name]):.3g} s"


def _abreast(data: DataSet, loss: str, update: str, threads: int, name: str) -> Contender:
    checked = examples(data.rows, data.labels)
    grid = settings(loss, update, SCHEDULES)

    def run() -> dict[str, float]:
        watch = Stopwatch()
        ModelSet(grid, checked.features, threads).learn(checked)
        return watch.times(name)

    return run


def _one_by_one(data: DataSet, loss: str, update: str, name: str) -> Contender:
    checked = examples(data.rows, data.labels)
    grid = settings(loss, update, _SAMPLE)

    def run() -> dict[str, float]:
        watch = Stopwatch()
        for each in grid:
            try:
                Learner(each, checked.features).learn(checked)
            except (
                FloatingPointError
            ):  # the explicit update diverges with some, and had the whole pass to do so
                continue
        return {what: seconds * len(SCHEDULES) / len(grid) for what, seconds in watch.times(name).items()}

    return run


def _scikit_learn(data: DataSet, loss: str, name: str) -> Contender:
    """Its nearest schedule: eta0/t^power_t."""
    from sklearn.linear_model import SGDClassifier

    kind = {"squared": "squared_error", "logistic": "log_loss"}[loss]

    def run() -> dict[str, float]:
        watch = Stopwatch()
        for rate, _, power in _FEW:
            model = SGDClassifier(
                kind, alpha=0.0, learning_rate="invscaling", eta0=min(rate, 1.0), power_t=power, shuffle=False
            )
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                model.partial_fit(data.rows, data.labels, classes=[-1.0, 1.0])
        return {what: seconds * len(SCHEDULES) / len(_FEW) for what, seconds in watch.times(name).items()}

    return run
