"""A sweep on a cluster has the results of one machine, bit for bit. (Real clusters: `make test-cluster`.)"""

import pickle
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from steelyard import OnlineClassifier, Sweep
from steelyard.distributed.local import LocalEngine
from steelyard.estimators import _sweep_inputs
from steelyard.sweep import cluster
from steelyard.sweep.results import Results
from steelyard.sweep.search import SearchProgress
from tests.cli.running import file, refused, rows, run
from tests.cli.test_sweep import RATES, ROW_NORM, swept

__all__ = ["file"]  # the fixture
GRID: dict[str, list[Any]] = {"learning_rate": [0.1, 0.5, 2.0], "update": ["explicit", "invariant"]}


class Copying(LocalEngine):
    """One worker, and nothing but what can be sent to another machine."""

    def put(self, value: Any) -> Any:
        return pickle.loads(pickle.dumps(value))


def sweep(path: Path, **options: Any) -> Sweep:
    estimator = OnlineClassifier(loss="squared", scaling="row_norm")
    return Sweep(estimator, GRID, refit=False, holdout=5, **options).fit_files(path, bits=8)


def test_results_are_those_of_one_machine(file: Path, tmp_path: Path) -> None:
    alone, several = sweep(file), sweep(file, engine=Copying(1), state=tmp_path / "state")
    assert alone.results_.rows() == several.results_.rows()
    assert not (tmp_path / "state").exists()
    found = swept(file, *ROW_NORM, *RATES, "--cluster", "local:1", "--parts", 2)
    assert found["results"] == swept(file, *ROW_NORM, *RATES)["results"]
    assert (found["examples"], found["learned"]) == (200, 400)
    assert "--cluster" not in found["command"]


def test_it_goes_on_after_the_last_wave(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    shown: list[SearchProgress] = []

    class StopError(Exception):
        pass

    def stop(progress: SearchProgress) -> None:
        shown.append(progress)
        if len(shown) == 3:
            raise StopError

    learned: list[int] = []

    def learn_block(known: Any, points: Any) -> Any:
        learned.append(len(points))
        return original(known, points)

    original = cluster.learn_block
    monkeypatch.setattr(cluster, "learn_block", learn_block)
    with monkeypatch.context() as patch:
        patch.setattr(_sweep_inputs, "watching", lambda *_: nullcontext(stop))
        with pytest.raises(StopError):
            sweep(file, engine=LocalEngine(1), state=state)
    assert [each.share for each in shown] == [0.25, 0.5, 0.75]
    with pytest.raises(ValueError, match="whose blocks differed"):
        sweep(file, state=state)
    learned.clear()
    again: Results = sweep(file, engine=LocalEngine(1), state=state).results_
    assert learned == [1, 2]  # of 1, 2, 1, 2: the third was not done yet
    assert again.rows() == sweep(file).results_.rows()


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="engine is for files"):
        Sweep(OnlineClassifier(), GRID, engine="local").fit([[0.0], [1.0]], [0, 1])
    file = tmp_path / "rows.vw"
    file.write_text(rows(20))
    assert "--parts: for a sweep on a cluster" in refused("sweep", file, *ROW_NORM, "--parts", 2)
    assert "there is no cluster 'cloud'" in refused("sweep", file, *ROW_NORM, "--cluster", "cloud")
    piped = ("sweep", "-", *ROW_NORM, "--format", "vw", "--cluster", "local")
    assert "every worker reads it" in run(*piped, stdin=rows(20).encode(), code=1).stderr
    file.write_text("|f a\n|f b\n")
    empty = refused("sweep", file, *ROW_NORM, "--cluster", "local:1")
    assert "no row has a label and a weight" in empty
