"""Memory: bytes a feature takes in a model, and what `fit` allocates beside its input."""

import tracemalloc
from collections.abc import Callable
from functools import partial

from benchmarks.speed import ours
from benchmarks.support.generate import DataSet
from benchmarks.support.timing import Row, Table, Target
from steelyard.model import Model, Settings

_BOUNDS = {"plain": 4.0, "row_norm": 4.0, "adaptive": 12.0, "normalized": 16.0, "standardized": 28.0}
_FEATURES = 1_000_000


def table(data: DataSet) -> Table:
    """A copy of the rows would show as a peak of 1 or more times their size."""
    rows = []
    for scaling, bound in _BOUNDS.items():
        figure = round(peak(partial(Model, Settings(scaling=scaling), _FEATURES)) / _FEATURES, 2)
        rows.append(
            Row(f"model, {scaling}", "", f"{figure:g} B/feature", "", figure, Target(bound, at_least=False))
        )
    size = data.rows.data.nbytes + data.rows.indices.nbytes + data.rows.indptr.nbytes
    for loss in ("squared", "logistic"):
        run = ours.fit(data, loss, 0.5)
        run()  # compiling allocates too
        extra = peak(run)
        shown = f"{extra / 1e6:.0f} MB", f"{size / 1e6:.0f} MB"
        target = Target(0.25, at_least=False)
        rows.append(Row(f"peak within fit, {loss}", "size of the rows", *shown, extra / size, target))
    return Table(f"(f) memory: {data.name}", "figure", rows)


def peak(function: Callable[[], object]) -> int:
    """The most bytes that were allocated at once while it ran, on top of what was there."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        kept = function()
        largest = tracemalloc.get_traced_memory()[1] - before
        del kept
    finally:
        tracemalloc.stop()
    return largest
