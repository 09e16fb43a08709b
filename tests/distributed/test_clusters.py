"""Real clusters on this machine, two workers each: the same model, even where workers are killed."""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from steelyard import OnlineClassifier, Sweep, model_file
from steelyard.distributed.engines import TaskEngine, connect
from steelyard.distributed.local import LocalEngine
from steelyard.distributed.plan import Plan
from steelyard.distributed.training import DistributedTraining
from steelyard.engine import file_training
from steelyard.engine.run_options import RunOptions
from steelyard.io.read_options import ReadOptions
from steelyard.losses import by_name
from steelyard.model import Settings
from tests.cli.running import rows

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]
KILLS = int(os.environ.get("STEELYARD_KILLS", "20"))  # of workers, on each engine


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("files")
    for k in range(16):
        (folder / f"{k:02}.vw").write_text(rows(3000, seed=k))
    return Plan.of(sorted(map(str, folder.iterdir())), 4, 4)


def learn(plan: Plan, engine: TaskEngine) -> bytes:
    begun = file_training.begin(
        plan.paths, ReadOptions.from_keywords(bits=12), RunOptions(),
        lambda inferred: [Settings(by_name("modified_huber"))], task="classes",
    )  # fmt: skip
    return model_file.as_bytes(DistributedTraining.begin(begun, plan).run(engine))


@pytest.fixture(scope="module")
def expected(plan: Plan) -> bytes:
    return learn(plan, LocalEngine(1))


def workers(kind: str) -> list[psutil.Process]:
    """The processes that compute tasks: not those that manage them."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            line = " ".join(process.cmdline())
        except psutil.Error:
            continue
        ray = kind == "ray" and line.startswith(("ray::learn_part", "ray::merge_two"))
        spawned = kind != "ray" and "spawn_main" in line
        if ray or spawned:
            found.append(process)
    return found


@contextmanager
def killing(kind: str, times: int) -> Iterator[list[int]]:
    """Kill workers at random moments, until so many were killed or the block ends."""
    draw, over, killed = random.Random(1), threading.Event(), [0]

    def kill() -> None:
        while killed[0] < times and not over.wait(draw.uniform(0.3, 1.5)):
            if found := workers(kind):
                victim = draw.choice(found)
                try:
                    os.kill(victim.pid, signal.SIGKILL)
                    killed[0] += 1
                except ProcessLookupError:
                    pass

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("kind", ["local:2", "ray", "dask"])
def test_the_same_model_on_every_engine(plan: Plan, expected: bytes, kind: str) -> None:
    engine = connect(kind)
    try:
        assert learn(plan, engine) == expected
    finally:
        engine.close()


@pytest.mark.parametrize("kind", ["local:2", "ray", "dask"])
def test_the_same_model_whatever_dies(plan: Plan, expected: bytes, kind: str) -> None:
    killed, ends = 0, time.monotonic() + 900
    while killed < KILLS:
        assert time.monotonic() < ends, f"only {killed} workers were killed in time"
        engine: Any = connect(kind)
        try:
            with killing(kind, min(6, KILLS - killed)) as count:
                assert learn(plan, engine) == expected
            killed += count[0]
        finally:
            engine.close()


@pytest.mark.parametrize("kind", ["local:2", "ray", "dask"])
def test_a_sweep_on_every_engine(plan: Plan, kind: str) -> None:
    grid: dict[str, list[Any]] = {"learning_rate": [0.1, 0.5, 1.0, 2.0], "update": ["explicit", "invariant"]}
    alone, several = (
        Sweep(OnlineClassifier(), grid, refit=False, engine=engine).fit_files(list(plan.paths[:4]), bits=12)
        for engine in (None, kind)
    )
    assert several.results_.rows() == alone.results_.rows()


def test_one_part_on_ray_is_training_without_it(plan: Plan, tmp_path: Path) -> None:
    alone = Plan.of(plan.paths, 1, 2)
    engine = connect("ray")
    try:
        assert learn(alone, engine) == learn(alone, LocalEngine(1))
    finally:
        engine.close()
