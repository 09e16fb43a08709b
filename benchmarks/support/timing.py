"""Alternating repeats, medians, and tables of ratios. Knows nothing of what is measured.

A machine is never quite still. So whatever is compared runs in turns, round after round, and a
ratio is the median of the ratios within each round, not the ratio of two figures from two times.
What counts is processor time, of all threads together: what else runs on the machine hardly moves
it, and nobody can hide work in a second thread. Time on the wall is kept beside it.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

# A contender runs once and says how many seconds each thing it timed took.
Contender = Callable[[], Mapping[str, float]]
Times = dict[str, list[float]]

WALL = ", on the wall"


class Stopwatch:
    """Seconds of processor and wall since it was made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def times(self, name: str) -> dict[str, float]:
        """Both, as a contender reports them."""
        processor, wall = time.process_time() - self._processor, time.perf_counter() - self._wall
        return {name: processor, name + WALL: wall}


def clocked(name: str, function: Callable[[], Any]) -> Contender:
    """A contender whose whole call is the one thing timed."""

    def run() -> dict[str, float]:
        watch = Stopwatch()
        function()
        return watch.times(name)

    return run


def alternate(contenders: Sequence[Contender], repeats: int, warm_up: bool = True) -> Times:
    """Run all of them in turns; every round starts with another one. The warm-up round does not count."""
    if warm_up:
        for contender in contenders:
            contender()
    times: Times = {}
    for repeat in range(repeats):
        shift = repeat % len(contenders)
        for contender in (*contenders[shift:], *contenders[:shift]):
            for name, seconds in contender().items():
                times.setdefault(name, []).append(seconds)
    return times


def ratio(times: Times, ours: str, theirs: str) -> float:
    """How many times faster `ours` is."""
    return median(b / a for a, b in zip(times[ours], times[theirs], strict=True))


@dataclass(frozen=True)
class Target:
    """A bound that a figure has to keep."""

    bound: float
    at_least: bool = True

    def reached(self, figure: float) -> bool:
        return figure >= self.bound if self.at_least else figure <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Row:
    """One figure, what it was made from, and what it should be."""

    what: str
    against: str
    ours: str
    theirs: str
    figure: float
    target: Target | None = None

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "reached" if self.target.reached(self.figure) else "missed"


@dataclass(frozen=True)
class Table:
    """Rows of one kind. `figure` names the last number of each: a ratio, seconds, bytes."""

    title: str
    figure: str
    rows: list[Row]
    notes: tuple[str, ...] = ()

    def show(self, console: Console) -> None:
        shown = RichTable("what", "against", title=self.title, title_justify="left")
        for heading in ("ours", "theirs", self.figure, "target"):
            shown.add_column(heading, justify="right")
        shown.add_column("")
        for row in self.rows:
            colour = {"reached": "green", "missed": "red", "": ""}[row.verdict]
            figure, target = f"{row.figure:.3g}", str(row.target or "")
            shown.add_row(
                row.what, row.against, row.ours, row.theirs, figure, target, row.verdict, style=colour
            )
        console.print(shown)
        for note in self.notes:
            console.print(f"  {note}", highlight=False)
        console.print()

    def markdown(self) -> str:
        """The same for a page of documentation."""
        lines = [f"**{self.title}**", "", f"| what | against | ours | theirs | {self.figure} | target | |"]
        lines.append("|---|---|--:|--:|--:|--:|---|")
        for row in self.rows:
            verdict = "**missed**" if row.verdict == "missed" else row.verdict
            cells = (
                row.what,
                row.against,
                row.ours,
                row.theirs,
                f"{row.figure:.3g}",
                row.target or "",
                verdict,
            )
            lines.append("| " + " | ".join(map(str, cells)) + " |")
        return "\n".join([*lines, "", *self.notes]).rstrip() + "\n"


def speed(entries: int, seconds: Sequence[float]) -> str:
    """Features per second, in words."""
    per_second = entries / median(seconds)
    return f"{per_second / 1e6:.0f} M/s" if per_second >= 1e7 else f"{per_second / 1e6:.2g} M/s"


def save(tables: Sequence[Table], about: Mapping[str, Any], path: Path) -> None:
    """All tables as JSON, through a temporary name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"title": table.title, "figure": table.figure, "notes": table.notes}
        | {"rows": [asdict(row) | {"verdict": row.verdict} for row in table.rows]}
        for table in tables
    ]
    temporary = path.with_suffix(".part")
    temporary.write_text(
        json.dumps({"about": dict(about), "tables": rows}, indent=1, ensure_ascii=False) + "\n"
    )
    temporary.replace(path)
