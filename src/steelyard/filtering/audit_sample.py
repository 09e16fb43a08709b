"""`AuditSample`: documents drawn for labelling, half of them from those kept and half from those rejected.

Each row has a random key by its file, its block and its place in it; the rows with the smallest keys are the
sample. So it is the same whatever the threads, and a run that was killed goes on with it. While files are
read, only rows with keys that may still be among the smallest are remembered.
"""

import heapq
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.io import columns as roles

if TYPE_CHECKING:
    from steelyard.filtering.blocks import Task

Candidate = dict[str, Any]
KEPT, REJECTED = "kept", "rejected"


class AuditSample:
    """`size` documents in all; all of them from those kept where nothing is rejected."""

    def __init__(self, size: int, seed: int, *, rejects: bool) -> None:
        self.seed = seed
        self.sizes = {KEPT: size - size // 2, REJECTED: size // 2} if rejects else {KEPT: size}
        self._largest_first: dict[str, list[float]] = {name: [] for name in self.sizes}  # heaps of −key

    def begin(self) -> None:
        """Nothing is accepted yet."""
        for heap in self._largest_first.values():
            heap.clear()

    def candidates(self, task: "Task", rows: NDArray[np.int64], keep: NDArray[np.bool_]) -> list[Candidate]:
        """The rows of a block that may be in the sample."""
        assert task.block is not None
        name = task.prepared.input.name
        place = [self.seed, zlib.crc32(name.encode()), task.number]
        keys = np.random.default_rng(place).random(len(rows))
        found = []
        for stratum, chosen in ((KEPT, keep), (REJECTED, ~keep)):
            if stratum not in self.sizes:
                continue
            places = np.flatnonzero(chosen & (keys < self._bound(stratum)))
            for row in places[np.argsort(keys[places])][: self.sizes[stratum]].tolist():
                where = {"file": name, "block": task.number, "row": int(rows[row])}
                text = document(task, int(rows[row]))
                found.append({"key": float(keys[row]), "stratum": stratum, **where, "document": text})
        return found

    def accept(self, candidates: list[Candidate]) -> list[Candidate]:
        """Keep the candidates among the smallest so far, in the order of the blocks, whatever the threads did."""
        accepted = []
        for each in candidates:
            stratum = each["stratum"]
            if each["key"] < self._bound(stratum):
                accepted.append(each)
                heapq.heappush(self._largest_first[stratum], -each["key"])
                if len(self._largest_first[stratum]) > self.sizes[stratum]:
                    heapq.heappop(self._largest_first[stratum])
        return accepted

    def _bound(self, stratum: str) -> float:
        """Keys from here on are too large. (A thread may read it while it changes: then it is too large.)"""
        heap = self._largest_first[stratum]
        return -heap[0] if len(heap) == self.sizes[stratum] else np.inf

    def select(self, candidates: list[Candidate]) -> dict[str, list[Candidate]]:
        """The sample: of each stratum, those with the smallest keys, in the order of their draws."""
        ordered = sorted(candidates, key=lambda each: (each["key"], each["file"], each["block"], each["row"]))
        return {
            name: [each for each in ordered if each["stratum"] == name][:size]
            for name, size in self.sizes.items()
        }


def document(task: "Task", row: int) -> str:
    """What a person reads to judge a row: its texts, or where there are none, all of its columns."""
    assert task.block is not None
    records = task.prepared.records
    cells, columns = records.row(task.block, row), records.spec.columns
    texts = [] if columns is None else columns.with_role(roles.TEXT)
    if texts:
        return "\n".join(str(cells.get(name) or "") for name in texts)
    return json.dumps(cells, ensure_ascii=False, default=str)
