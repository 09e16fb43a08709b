"""Order kept, exceptions passed on, and no thread that stays when nobody wants its work."""

import itertools
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.io import read_ahead

THREADS = [1, 2, 4]


def of_ours() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("steelyard")}


@pytest.fixture
def all_gone() -> Callable[[], bool]:
    """Whether no thread stays that was not there before: those of other tests may take their time."""
    before = of_ours()

    def wait() -> bool:
        ends = time.monotonic() + 60.0
        while of_ours() - before and time.monotonic() < ends:
            time.sleep(0.005)
        return not of_ours() - before

    return wait


@pytest.mark.parametrize("threads", THREADS)
def test_order(threads: int, all_gone: Callable[[], bool]) -> None:
    def slow_at_first(k: int) -> int:
        time.sleep(0.002 * (k % 3 == 0))
        return k * k

    assert list(read_ahead.map_ahead(slow_at_first, range(60), threads)) == [k * k for k in range(60)]
    assert list(read_ahead.map_ahead(slow_at_first, [], threads)) == []
    assert all_gone()


@pytest.mark.parametrize("threads", THREADS)
def test_an_exception_in_the_source(threads: int, all_gone: Callable[[], bool]) -> None:
    def items() -> Iterator[int]:
        yield from range(10)
        raise KeyError("the source")

    with pytest.raises(KeyError, match="the source"):
        list(read_ahead.map_ahead(abs, items(), threads))
    results = read_ahead.map_ahead(abs, items(), threads)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    results.close()
    assert all_gone()


@pytest.mark.parametrize("threads", THREADS)
def test_an_exception_in_a_worker(threads: int, all_gone: Callable[[], bool]) -> None:
    def work(k: int) -> int:
        if k == 7:
            raise ValueError("seven")
        return k

    results = read_ahead.map_ahead(work, range(100), threads)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(ValueError, match="seven"):
        next(results)
    assert all_gone()


@pytest.mark.parametrize("threads", THREADS)
def test_no_more_is_fetched_than_can_wait(threads: int, all_gone: Callable[[], bool]) -> None:
    fetched = []

    def items() -> Iterator[int]:
        for k in itertools.count():
            fetched.append(k)
            yield k

    results = read_ahead.map_ahead(abs, items(), threads)
    assert next(results) == 0
    time.sleep(0.05)
    assert len(fetched) <= 1 if threads == 1 else len(fetched) <= 2 * threads + 6
    results.close()
    assert all_gone()


def test_leaving_while_the_source_waits(all_gone: Callable[[], bool]) -> None:
    """A pipe that says nothing more must not keep a program that has read enough."""
    reading, writing = os.pipe()
    os.write(writing, b"abcdef")

    def items() -> Iterator[bytes]:
        while True:
            yield os.read(reading, 1)

    results = read_ahead.map_ahead(bytes.upper, items(), 2)
    assert next(results) == b"A"
    done = threading.Event()

    def leave() -> None:
        results.close()
        done.set()

    threading.Thread(target=leave, daemon=True).start()
    assert done.wait(60.0)
    os.close(writing)  # now the reading thread gets nothing for ever, and sees that nobody wants it
    assert all_gone()


def test_leaving_while_the_queue_is_full(
    monkeypatch: pytest.MonkeyPatch, all_gone: Callable[[], bool]
) -> None:
    tried = threading.Event()

    class Watched(queue.Queue[Any]):
        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            try:
                super().put(item, block, timeout)
            except queue.Full:
                tried.set()
                raise

    monkeypatch.setattr(read_ahead, "queue", SimpleNamespace(Queue=Watched, Full=queue.Full))
    results = read_ahead.prefetch(itertools.count(), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert tried.wait(60.0)  # and tries again
    results.close()  # type: ignore[attr-defined]
    assert all_gone()


def test_turns_are_short_only_while_threads_work() -> None:
    usual = sys.getswitchinterval()
    first = read_ahead.map_ahead(str, range(100), 2)
    second = read_ahead.map_ahead(str, range(100), 2)
    next(first), next(second)
    assert sys.getswitchinterval() == pytest.approx(read_ahead.TURN)
    first.close()
    assert sys.getswitchinterval() == pytest.approx(read_ahead.TURN)  # the second still works
    second.close()
    assert sys.getswitchinterval() == pytest.approx(usual)
