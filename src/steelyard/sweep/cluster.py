"""`ClusterSearch`: a search in files whose points are learned in blocks, side by side on a cluster.

Each task reads the files and learns a block of settings, as `Search` would: so the results are those of one
machine, to the last bit, whatever the blocks, workers and repetitions.
"""

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.distributed.engines import TaskEngine, connect
from steelyard.distributed.plan import cut
from steelyard.engine.holdout import Holdout
from steelyard.io.errors import Problem
from steelyard.sweep import plan
from steelyard.sweep.files import SweepFiles
from steelyard.sweep.grid import Point
from steelyard.sweep.results import Results
from steelyard.sweep.search import Search, SearchProgress

PARTS = 8
WAVES = 4  # after each of which the state is saved, if it is
_WORTH_READING = 16  # models: to read the files costs as much as to learn some ten


@dataclass(frozen=True)
class FileCounts:
    """What a worker has read, as a `Stream` tells it."""

    rows: int
    skipped: int
    problems: list[Problem]
    remarks: set[str]
    unmet: list[str]


@dataclass(frozen=True)
class BlockResult:
    """The figures of a block of points."""

    found: dict[str, NDArray[Any]]
    learned: int
    read: FileCounts


class ClusterSearch(Search):
    """`where` is what `distributed.engines.connect` takes, or an engine.

    The other options are those of `Search`; `memory` and `threads` are those of one worker.
    """

    def __init__(
        self,
        points: Sequence[Point],
        source: SweepFiles,
        where: str | TaskEngine,
        *,
        holdout: Holdout,
        parts: int | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        identity: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        source.files.check_readable_again("every worker reads it")
        source.files.threads = threads or 1
        self.parts = parts or min(PARTS, -(-len(points) // _WORTH_READING))
        self.waves = 1 if options.get("state") is None else min(WAVES, -(-len(points) // self.parts))
        self._source, self._where, self._holdout, self._worker_memory = source, where, holdout, memory
        self._worker_options = {name: value for name, value in options.items() if name != "state"}
        super().__init__(
            points, source.rows(holdout, 0), threads=threads or 1, memory=plan.memory_of(memory),
            identity=(identity or {}) | {"blocks": [self.parts, self.waves]}, **options,
        )  # fmt: skip

    def run(self, watch: Callable[[SearchProgress], None] | None = None) -> Results:
        engine = connect(self._where) if isinstance(self._where, str) else self._where
        done = self._load()
        with closing(engine) if isinstance(self._where, str) else nullcontext():
            for number, block in enumerate(cut(range(len(self.points)), self.waves)):
                if number >= done:
                    self._learn_wave(engine, number, block, watch)
                    self._save_after(number + 1)
        if self._state is not None:
            self._state.remove()
        return self.results

    def _learn_wave(
        self,
        engine: TaskEngine,
        number: int,
        wave: Sequence[int],
        watch: Callable[[SearchProgress], None] | None,
    ) -> None:
        blocks = [list(block) for block in cut(wave, self.parts) if len(block)]
        # workers of this machine share its memory
        memory = plan.memory_of(self._worker_memory) // getattr(engine, "workers", 1)
        known = engine.put(
            (self._source, self._holdout, memory, self._worker_options | {"threads": self._threads})
        )
        tasks = [engine.submit(learn_block, known, [self.points[each] for each in block]) for block in blocks]
        ready = 0

        def finished() -> None:
            nonlocal ready
            ready += 1
            share = (number + ready / len(tasks)) / self.waves
            try:
                if watch is not None:
                    watch(SearchProgress(number, self.waves, share, self.learned))
            except BaseException:
                self._save_after(number)
                raise

        results = engine.result(engine.submit(gather, *tasks), tasks, finished)
        for block, result in zip(blocks, results, strict=True):
            self.results.fill(block, result.found)
            self.learned += result.learned
            self.read = result.read

    def _load(self) -> int:
        """How many waves are done."""
        stored = None if self._state is None else self._state.load()
        if stored is None:
            return 0
        position, arrays = stored
        for name, column in self.results.found.items():
            column[...] = arrays[f"result.{name}"]
        return int(position["waves"])

    def _save_after(self, waves: int) -> None:
        if self._state is not None:
            columns = {f"result.{name}": np.asarray(column) for name, column in self.results.found.items()}
            self._state.save({"waves": waves}, columns)


def learn_block(
    known: tuple[SweepFiles, int | None, int, dict[str, Any]], points: list[Point]
) -> BlockResult:
    """Learn a block of points, on a worker."""
    source, holdout, memory, options = known
    search = Search(points, source.rows(holdout, memory), memory=memory, **options)
    search.run()
    stream = source.files.stream
    assert stream is not None
    read = FileCounts(stream.rows, stream.skipped, stream.problems, stream.remarks, list(stream.unmet))
    return BlockResult(search.results.found, search.learned, read)


def gather(*blocks: BlockResult) -> list[BlockResult]:
    return list(blocks)
