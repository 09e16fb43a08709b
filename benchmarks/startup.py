"""Start-up: what a new process costs before it has learned its first row.

Cold means an empty folder for Numba's cache, as on the first use after installing; warm, that an
earlier process filled it. scikit-learn's import is the baseline of the estimators.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.timing import WALL, Contender, Row, Table, Target, alternate

_DATA = """
import numpy as np
X = np.eye(100, dtype=np.float32)
y = np.where(np.arange(100) % 3 == 0, 1.0, -1.0)
"""

_LEARNER = """
from steelyard import losses
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings
loss = losses.by_name("logistic")
learner = Learner(Settings(loss=loss), 100)
rows = examples(X, y, loss=loss)
learner.learn(rows)
learner.predict(rows)
import sys
assert "sklearn" not in sys.modules
"""

_PEER = "from sklearn.linear_model import SGDClassifier\n"

_ESTIMATOR = """
from steelyard.estimators import OnlineClassifier
OnlineClassifier().fit(X, y).predict(X)
"""

LEARNER, PEER, ESTIMATOR = _DATA + _LEARNER, _DATA + _PEER, _DATA + _PEER + _ESTIMATOR


def table(repeats: int) -> Table:
    """Every time is that of a whole process, from its start to its end.

    Its processor time is what the wall would show on an idle machine.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        scripts = {"learner": LEARNER, "peer": PEER, "estimator": ESTIMATOR}
        contenders = [process(name, script, Path(folder) / name) for name, script in scripts.items()]
        cold = alternate(contenders, 1, warm_up=False)
        warm = alternate(contenders, repeats, warm_up=False)
    rows = []
    for clock in ("", WALL):
        rows += [
            _row("Learner, cold cache" + clock, cold["learner" + clock][0], 15.0),
            _row("estimator, cold cache" + clock, cold["estimator" + clock][0], 15.0),
            _row("Learner, warm cache" + clock, median(warm["learner" + clock]), 1.2),
            _on_top("estimator, warm cache" + clock, warm["estimator" + clock], warm["peer" + clock]),
        ]
    return Table("(e) start-up: a new process, 100 rows, default settings", "seconds", rows)


def _row(what: str, seconds: float, bound: float) -> Row:
    return Row(what, "", f"{seconds:.2f} s", "", seconds, Target(bound, at_least=False))


def _on_top(what: str, ours: list[float], peers: list[float]) -> Row:
    difference = median(a - b for a, b in zip(ours, peers, strict=True))
    shown = f"{median(ours):.2f} s", f"{median(peers):.2f} s"
    return Row(what, "on top of importing SGDClassifier", *shown, difference, Target(1.0, at_least=False))


def process(name: str, script: str, cache: Path) -> Contender:
    """A new Python that runs the script with its own cache folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}

    def run() -> dict[str, float]:
        wall, before = time.perf_counter(), os.times()
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the script of {name} failed:\n{done.stderr}")
        wall, after = time.perf_counter() - wall, os.times()
        processor = (
            after.children_user + after.children_system - before.children_user - before.children_system
        )
        return {name: processor, name + WALL: wall}

    return run
