"""Work done ahead of its consumer on other threads, in bounded queues, its order unchanged."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

LEAVING = 0.5  # seconds that a thread is given to finish when nobody wants its items any more


def mapped(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """`map(function, items)`, with `threads` of them at work at once and the items fetched on one more.

    With one thread everything happens on the caller's.
    """
    if threads == 1:
        yield from map(function, items)
        return
    pending: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="steelyard") as pool:
        try:
            for item in fetched(items, 2):
                pending.append(pool.submit(function, item))
                if len(pending) > threads + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


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
        stopped.set()
        thread.join(LEAVING)
