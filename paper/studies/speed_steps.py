"""The steps on cost: an example learned with each update, beside its dot product alone."""

import time
from functools import partial

import numpy as np
from scipy import sparse

from paper import data, feature_values
from paper.study import Row, Scope, Step
from paper.sweeping import LOSSES, UPDATES
from steelyard import Learner, Settings, losses
from steelyard.examples import Examples, examples

TABLE = "speed"
PLACE = "rcv1"
_RATE = 0.5


def steps(scope: Scope) -> list[Step]:
    rows, times = scope.choose((20_000, 15), (10_000, 7))
    inputs = {"data": data.digest(PLACE), "rows": rows, "times": times}
    return [
        Step(TABLE, f"{kind} {loss}", inputs, partial(measure, kind, loss, rows, times))
        for kind in ("documents", "one feature")
        for loss in LOSSES
    ]


def measure(kind: str, loss: str, rows: int, times: int) -> list[Row]:
    """The updates in turns; the least processor time of each, since other work only adds to it."""
    chunk = _load(kind, rows)
    least = dict.fromkeys((*UPDATES, "dot product"), float("inf"))
    for update in UPDATES:
        _learn(loss, update, chunk)  # compiled before the clock runs
    for _ in range(times):
        for update in UPDATES:
            learner, seconds = _learn(loss, update, chunk)
            least[update] = min(least[update], seconds)
        start = time.process_time()
        learner.predict(chunk)
        least["dot product"] = min(least["dot product"], time.process_time() - start)
    return [
        {
            "kind": kind,
            "features_a_row": chunk.values.size / len(chunk),
            "loss": loss,
            "update": update,
            "nanoseconds": 1e9 * least[update] / len(chunk),
            "dot_product": 1e9 * least["dot product"] / len(chunk),
        }
        for update in UPDATES
    ]


def _learn(loss: str, update: str, chunk: Examples) -> tuple[Learner, float]:
    settings = Settings(losses.by_name(loss), update, "row_norm", _RATE, bias=False)
    learner = Learner(settings, chunk.features)
    start = time.process_time()
    learner.learn(chunk)
    return learner, time.process_time() - start


def _load(kind: str, rows: int) -> Examples:
    found = data.load(PLACE)
    if kind == "documents":
        return examples(feature_values.matrix(PLACE)[:rows], found.labels[:rows])
    random = np.random.default_rng(0)
    count = len(found.labels[:rows])
    matrix = sparse.csr_matrix(
        (np.ones(count, np.float32), random.integers(0, 100, count), np.arange(count + 1)), (count, 100)
    )
    return examples(matrix, found.labels[:rows])
