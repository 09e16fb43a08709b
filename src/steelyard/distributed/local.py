"""`LocalEngine`: the tasks of a cluster in processes of this machine, or, with one worker, in this one."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

_MOST_DEATHS = 20  # of workers, one after another, while no task gets done
_PATIENCE = 1.0  # seconds until one looks whether anybody would tell of a death


@dataclass(eq=False)
class Task:
    """A function to compute, and its value once it is done."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    done: bool = False
    value: Any = None

    def values(self) -> list[Any]:
        return [each.value if isinstance(each, Task) else each for each in self.arguments]

    def needed(self) -> list["Task"]:
        """Itself and what it needs, those first that others need."""
        before = [task for each in self.arguments if isinstance(each, Task) for task in each.needed()]
        return [*before, self]

    def finish(self, value: Any) -> None:
        self.value, self.done, self.arguments = value, True, ()


class LocalEngine:
    """A process that dies is replaced, and its task computed again."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def put(self, value: Any) -> Any:
        return value

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Task:
        return Task(function, arguments)

    def result(self, handle: Task, watched: Sequence[Task], finished: Callable[[], None]) -> Any:
        todo = [task for task in handle.needed() if not task.done]
        if self.workers == 1:
            for task in todo:
                task.finish(task.function(*task.values()))
                _tell(task, watched, finished)
            return handle.value
        deaths = 0
        while not handle.done:
            try:
                for task in self._finish_some(todo):
                    deaths = 0
                    _tell(task, watched, finished)
            except BrokenProcessPool:
                self.close()
                deaths += 1
                if deaths == _MOST_DEATHS:
                    raise RuntimeError(
                        f"{deaths} worker processes died one after another: is there enough memory for "
                        f"{self.workers} of them? One alone (local:1) needs the least"
                    ) from None
        return handle.value

    def _finish_some(self, todo: Sequence[Task]) -> Any:
        """Run tasks in processes until all are done, or a process dies; yields each that is done."""
        running: dict[Future[Any], Task] = {}
        while True:
            started = set(running.values())
            for task in todo:
                ready = not task.done and task not in started
                if ready and all(each.done for each in task.arguments if isinstance(each, Task)):
                    running[self._submit(task)] = task
            if not running:
                return
            done = wait(running, _PATIENCE, return_when=FIRST_COMPLETED).done
            if not done and not _is_watched(self._pool):
                raise BrokenProcessPool
            for future in done:
                task = running.pop(future)
                task.finish(future.result())
                yield task

    def _submit(self, task: Task) -> Future[Any]:
        if self._pool is None:
            # processes that begin afresh: a copy of this one might hold locks of its threads
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin_worker)
        return self._pool.submit(task.function, *task.values())

    def close(self) -> None:
        if self._pool is not None:
            processes, calls, results, watcher = _insides(self._pool)
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:  # what they compute is not needed
                process.terminate()
                process.join()
            # Usually the pool's threads end now. They may be in the middle of a task or a result, whose other end is
            # gone, and would wait for it for ever, and the interpreter for them: these ends here keep the pipes open.
            if watcher is not None:  # which closes them, too, and must not do so at the same time
                watcher.join(_PATIENCE)
            calls.close()
            results.close()
            self._pool = None


def _is_watched(pool: Any) -> bool:
    """Whether its thread is there that hears of results and of deaths.

    A process that dies while a task is being handed in may kill that thread; then no result and no death is told.
    """
    return bool(pool._executor_manager_thread.is_alive())


def _insides(pool: ProcessPoolExecutor) -> tuple[list[Any], Any, Any, threading.Thread | None]:
    """Its processes, its own copies of their ends of the pipes of tasks and of results, and the thread that listens."""
    inner: Any = pool
    ends = inner._call_queue._reader, inner._result_queue._writer
    return list(inner._processes.values()), *ends, inner._executor_manager_thread


def _begin_worker() -> None:
    """Ctrl-C reaches every process of a terminal; the one that was started decides what becomes of it.

    If that one is killed, each worker notices and ends itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _tell(task: Task, watched: Sequence[Task], finished: Callable[[], None]) -> None:
    if any(task is each for each in watched):
        finished()
