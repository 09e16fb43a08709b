"""Work done ahead of its consumer on other threads, in bounded queues, its order unchanged."""

import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

TURN = 1e-4  # seconds for which one thread may keep the others from Python

_hurried = 0
_usual_turn = 0.0
_counting = threading.RLock()


def mapped(function: Callable[[T], R], items: Iterable[T], threads: int) -> Generator[R, None, None]:
    """`map(function, items)`, with `threads` of them at work at once and the items fetched on one more.

    With one thread everything happens on the caller's.
    """
    if threads == 1:
        yield from map(function, items)
        return
    pending: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="steelyard")
    try:
        with short_turns():
            for item in fetched(items, 2):
                pending.append(pool.submit(function, item))
                if len(pending) > threads + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
    finally:
        # Not waited for: an iterator that was left behind is closed by the garbage collector, at any
        # moment on any thread, also where that one holds the lock which waiting for a thread takes.
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads take turns more often: the few lines of Python between two kernels take less time than
    Python's usual turn, for which a thread that has finished its kernel would wait idly.

    The length of a turn belongs to the whole process: the last block to be left puts it back.
    """
    global _hurried, _usual_turn
    with _counting:
        if _hurried == 0:
            _usual_turn = sys.getswitchinterval()
            sys.setswitchinterval(min(TURN, _usual_turn))
        _hurried += 1
    try:
        yield
    finally:
        with _counting:
            _hurried -= 1
            if _hurried == 0:
                sys.setswitchinterval(_usual_turn)


def fetched(items: Iterable[T], most: int) -> Iterator[T]:
    """The items, up to `most` of them fetched ahead on a thread of their own.

    A consumer that has had enough does not wait for a source that blocks, as a pipe may.
    """
    waiting: queue.Queue[tuple[str, T | BaseException | None]] = queue.Queue(most)
    stopped = threading.Event()

    def offer(kind: str, thing: T | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                waiting.put((kind, thing), timeout=0.1)
                return
            except queue.Full:
                continue

    def fetch() -> None:
        try:
            for item in items:
                offer("item", item)
                if stopped.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised again where the items are used
            offer("error", error)
        else:
            offer("end", None)

    thread = threading.Thread(target=fetch, name="steelyard-read", daemon=True)
    thread.start()
    try:
        while True:
            kind, thing = waiting.get()
            if kind == "end":
                return
            if kind == "error":
                raise thing  # type: ignore[misc]
            yield thing  # type: ignore[misc]
    finally:
        stopped.set()  # not waited for: see `mapped`
