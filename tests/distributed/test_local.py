"""`LocalEngine`: processes that die are replaced, and none outlives the one that started it."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.distributed import local
from steelyard.distributed.engines import connect
from steelyard.distributed.local import LocalEngine, Task


def add(left: int, right: int) -> int:
    return left + right


def die_unless(path: Path) -> int:
    """Kill the process that computes it, the first time."""
    if path.exists():
        return 1
    path.touch()
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine(2)
    yield made
    made.close()


def test_a_process_that_dies_is_replaced(engine: LocalEngine, tmp_path: Path) -> None:
    told: list[int] = []
    first, second = engine.submit(die_unless, tmp_path / "first"), engine.submit(add, 2, engine.put(3))
    both = engine.submit(add, first, second)
    assert engine.result(both, [first, second], lambda: told.append(1)) == 6
    assert len(told) == 2
    assert engine.result(both, [], lambda: None) == 6


def test_processes_that_always_die(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_MOST_DEATHS", 2)

    class Dead(ProcessPoolExecutor):
        def submit(self, *given: Any, **options: Any) -> Any:
            raise BrokenProcessPool

    monkeypatch.setattr(local, "ProcessPoolExecutor", Dead)
    with pytest.raises(RuntimeError, match="2 worker processes died one after another: is there enough"):
        engine.result(engine.submit(die), [], lambda: None)


def test_a_death_that_nobody_tells_of(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool's thread may itself die of a death that comes at the wrong moment."""
    monkeypatch.setattr(local, "_PATIENCE", 0.01)
    task = engine.submit(add, 1, 2)
    with monkeypatch.context() as patch:
        patch.setattr(local, "_is_watched", lambda pool: False)
        patch.setattr(local, "wait", lambda running, patience, **how: SimpleNamespace(done=set()))
        with pytest.raises(BrokenProcessPool):
            list(engine._finish_some([task]))
    assert engine.result(task, [], lambda: None) == 3
    assert local._is_watched(engine._pool)
    ended = threading.Thread(target=int)
    ended.start()
    ended.join()
    assert not local._is_watched(SimpleNamespace(_executor_manager_thread=ended))


def test_an_end_does_not_wait_for_what_is_running(engine: LocalEngine) -> None:
    engine._submit(Task(time.sleep, (900.0,)))
    engine.close()


def test_interrupts_are_for_the_process_that_was_started() -> None:
    before = signal.getsignal(signal.SIGINT)
    threads = threading.active_count()
    local._begin_worker()  # as nobody's: this process was not started by `multiprocessing`
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    assert threading.active_count() == threads
    signal.signal(signal.SIGINT, before)


def test_a_worker_ends_with_the_process_that_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    parent, ended = SimpleNamespace(join=lambda: None), threading.Event()
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(os, "_exit", lambda code: ended.set())
    monkeypatch.setattr(signal, "signal", lambda *given: None)
    local._begin_worker()
    assert ended.wait(60)


def sleep_on_two_workers() -> None:
    """Never returns."""
    made = LocalEngine(2)
    both = [made.submit(say_and_sleep, k) for k in range(2)]
    made.result(made.submit(add, *both), [], lambda: None)


def say_and_sleep(number: int) -> int:
    os.write(1, b"asleep\n")
    time.sleep(900.0)
    return number


def test_workers_of_a_process_that_is_killed_do_not_stay() -> None:
    """They have its standard output, which ends with the last of them."""
    module = "tests.distributed.test_local"
    command = [sys.executable, "-c", f"import {module} as run; run.sleep_on_two_workers()"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert [started.stdout.readline() for _ in range(2)] == [b"asleep\n"] * 2
        started.kill()
        assert started.communicate(timeout=60)[0] == b""


def test_workers_are_those_of_the_machine() -> None:
    assert LocalEngine().workers == (os.cpu_count() or 1)
    assert isinstance(connect("local"), LocalEngine)
