"""The tables of speed: us and a peer in alternation on the same rows."""

import tempfile
from pathlib import Path

from benchmarks.speed import cpp_loop, ours, peers, vowpal
from benchmarks.support.generate import DataSet
from benchmarks.support.timing import WALL, Row, Table, Target, Times, alternate, ratio, speed

RATE = 0.5
_ROWS_FOR_BATCH = 20_000  # LinearSVC needs many passes, more than in proportion to its rows
LOSSES = ("squared", "logistic")
_INSIDE = {"squared": Target(1.35), "logistic": Target(1.2)}
# The C++ loop takes a gradient step: for logistic loss that is less than our step, which solves an equation.
_LIMITS = {"squared": (Target(0.9), None), "logistic": (None, None)}
_FIT = {"squared": Target(1.2), "logistic": Target(1.05)}


def kernels_and_fits(data: DataSet, repeats: int) -> list[Table]:
    """(a) loop against loop and (b) `fit` against `fit`, from the same rounds."""
    loops, fits = [], []
    for loss in LOSSES:
        loop, fit = ours.kernel(data, loss, RATE), ours.fit(data, loss, RATE)
        times = alternate(
            [loop, peers.sgd(data, loss, RATE), fit, *cpp_loop.contenders(data, loss, RATE)], repeats
        )
        loops.append(_row(data, times, f"{loss}, kernel", ours.KERNEL, peers.INSIDE, _INSIDE[loss]))
        limits = zip(cpp_loop.names(), _LIMITS[loss], strict=True)
        loops += [
            _row(data, times, f"{loss}, kernel", ours.KERNEL, name, target)
            for name, target in limits
            if name in times
        ]
        fits.append(_row(data, times, f"{loss}, fit", ours.FIT, peers.FIT, _FIT[loss]))
    some = data.head(_ROWS_FOR_BATCH)
    batch = alternate([ours.fit(data, "logistic", RATE), peers.linear_svc(some)], 3, warm_up=False)
    fits.append(_per_feature(data, some, batch, "logistic, fit", ours.FIT, peers.SVC, None))
    notes = () if cpp_loop.compiler() else ("There is no C++ compiler here: its loop is left out.",)
    return [
        Table(f"(a) loop against loop: {data.name}", "times faster", loops, notes),
        Table(f"(b) fit against fit, checks included: {data.name}", "times faster", fits),
    ]


def scalings(data: DataSet, repeats: int) -> Table:
    """(c) what rates of their own for every feature cost."""
    rows = []
    for loss in LOSSES:
        names = ("plain", "row_norm", "adaptive", "normalized", "standardized")
        times = alternate([ours.kernel(data, loss, RATE, name, name) for name in names], repeats)
        for name in names[1:]:
            target = Target(0.5) if name == "adaptive" else None
            rows.append(_row(data, times, f"{loss}, {name}", name, "plain", target))
    return Table(f"(c) scalings against plain: {data.name}", "of plain's speed", rows)


def outsiders(data: DataSet, repeats: int, rows: int, few_rows: int) -> Table:
    """(d) Vowpal Wabbit and river. They see the first rows only, and speeds per feature are compared.

    Our own figure is from the same rounds, on all rows.
    """
    found: list[Row] = []
    missing = [] if vowpal.installed() else ["Vowpal Wabbit"]
    some, few = data.head(rows), data.head(few_rows)
    for loss in LOSSES:
        kernel, fit = ours.kernel(data, loss, RATE), ours.fit(data, loss, RATE)
        with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
            times = alternate([kernel, *vowpal.contenders(some, loss, RATE, Path(folder))], repeats)
        for name, target in ((vowpal.CACHE, Target(4.0)), (vowpal.TEXT, None)):
            for clock in ("", WALL):
                if name in times:
                    pair = ours.KERNEL + clock, name + clock
                    found.append(_per_feature(data, some, times, f"{loss}, kernel", *pair, target))
        wrapper, river = vowpal.wrapper(few, loss, RATE), peers.river(few, loss, RATE)
        times = alternate([fit, *filter(None, (wrapper, river))], repeats)
        if wrapper is not None:
            target = Target(100.0)
            found.append(_per_feature(data, few, times, f"{loss}, fit", ours.FIT, vowpal.WRAPPER, target))
        if river is not None:
            found.append(_per_feature(data, few, times, f"{loss}, fit", ours.FIT, peers.RIVER, None))
        elif "river" not in missing:
            missing.append("river")
    notes = [f"{name} is not installed here and left out." for name in missing]
    notes.append(f"Vowpal Wabbit learned {rows} rows from files, its wrapper and river {few_rows} rows.")
    return Table(f"(d) Vowpal Wabbit and river: {data.name}", "times faster", found, tuple(notes))


def _row(data: DataSet, times: Times, what: str, mine: str, other: str, target: Target | None = None) -> Row:
    shown = speed(data.entries, times[mine]), speed(data.entries, times[other])
    return Row(what, other, *shown, ratio(times, mine, other), target)


def _per_feature(
    data: DataSet, part: DataSet, times: Times, what: str, mine: str, other: str, target: Target | None
) -> Row:
    """As if the peer had learned all rows at the speed it had on a part of them."""
    scaled = {mine: times[mine], other: [t * data.entries / part.entries for t in times[other]]}
    return _row(data, scaled, what, mine, other, target)
