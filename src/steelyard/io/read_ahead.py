"""Blocks are fetched and parsed ahead, on several threads; their order stays."""

import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

TURN = 1e-4  # seconds for which one thread may hold Python's lock

_hurried = 0
_usual_turn = 0.0
_counting = threading.RLock()


def map_ahead(
    function: Callable[[T], R], items: Iterable[T], threads: int, *, prompt: bool = False
) -> Generator[R, None, None]:
    """`map(function, items)` on `threads` threads, the items fetched on one more; the order stays.

    With one thread everything runs on the caller's. With `prompt`, results are waited for as soon as there is
    no further item.
    """
    if threads == 1:
        yield from map(function, items)
        return
    pending: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="steelyard")
    try:
        with short_turns():
            for item in prefetch(items, 2, idle=prompt):
                if item is None:
                    while pending:
                        yield pending.popleft().result()
                    continue
                pending.append(pool.submit(function, item))
                if len(pending) > threads + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
    finally:
        # Not waited for: the garbage collector may close an abandoned iterator at any moment on any
        # thread, even on one that holds the lock that waiting for a thread needs.
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads switch more often: a thread that has finished its kernel would else wait idly for Python's
    usual switch interval, longer than the few lines of Python between two kernels take.

    The interval belongs to the whole process: the last of several users restores it.
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


def prefetch(items: Iterable[T], most: int, *, idle: bool = False) -> Iterator[T | None]:
    """The items, up to `most` of them fetched ahead on a thread of their own; None, if asked for, where the
    next one is not there yet.

    A consumer that stops early does not wait for a source that blocks, as a pipe may.
    """
    waiting: queue.Queue[Future[T]] = queue.Queue(most)
    stopped = threading.Event()

    def fetch() -> None:
        following, ended = iter(items), False
        while not (ended or stopped.is_set()):
            future: Future[T] = Future()
            try:
                future.set_result(next(following))
            except BaseException as error:  # noqa: BLE001 - it is raised again where the items are used
                future.set_exception(error)
                ended = True
            while not stopped.is_set():
                with suppress(queue.Full):
                    waiting.put(future, timeout=0.1)
                    break

    threading.Thread(target=fetch, name="steelyard-read", daemon=True).start()
    try:
        while True:
            if idle and waiting.empty():
                yield None
            try:
                item = waiting.get().result()
            except StopIteration:
                return
            yield item
    finally:
        stopped.set()  # not waited for: see `map_ahead`
