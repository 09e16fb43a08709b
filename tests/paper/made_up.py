"""Studies of nothing, for tests of what all studies have in common."""

import math
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from paper import drawing
from paper.study import (
    Claim,
    Pair,
    Part,
    ReportFigure,
    ReportTable,
    Row,
    Scope,
    Step,
    Study,
    Tables,
    Tally,
    Verdict,
)


@dataclass(frozen=True)
class MadeUp(Study):
    """A step for each key; a file gets a line whenever one is computed."""

    name: str
    title: str = "Numbers that were made up"
    keys: tuple[str, ...] = ("a", "b", "c")
    log: Path | None = None
    holds: str = ""
    """The key of the step that never ends."""
    fails: str = ""
    seeds: tuple[int, ...] = (1, 2)
    claims: tuple[Claim, ...] = field(default_factory=tuple)
    of_paper: bool = False

    def steps(self, scope: Scope) -> list[Step]:
        keys = self.keys[:2] if scope.quick else self.keys
        return [
            Step(self.name, key, {"seeds": self.seeds, "quick": scope.quick}, partial(self.compute, key))
            for key in keys
        ]

    def compute(self, key: str) -> list[Row]:
        if key == self.fails:
            raise ZeroDivisionError("as it was told to")
        if key == self.holds:
            time.sleep(3600.0)
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(f"{self.name} {key}\n")
        return [{"key": key, "x": i, "y": math.sin(i / 3.0) + ord(key[0])} for i in range(20)]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[self.name]
        figure = drawing.figure()
        axes = figure.add_subplot(xlabel="x", ylabel="y", title="Sine & <co>")
        for key, colour in zip(self.keys, drawing.COLOURS.values(), strict=False):
            mine = [row for row in rows if row["key"] == key]
            axes.plot([row["x"] for row in mine], [row["y"] for row in mine], color=colour, label=key)
        axes.legend()
        shown = [
            [str(key), f"{max(float(row['y']) for row in rows if row['key'] == key):.3f}", "**0.5** ± 0.1"]
            for key in dict.fromkeys(row["key"] for row in rows)
        ]
        return Part(
            (
                f"Of **{len(rows)}** rows *none* is `real`; a < b & c, see [the verdicts](#verdicts).",
                ReportFigure(
                    f"{self.name}_sine", figure, "The sine of `x`, <raised>, in units of *y*.", self.name
                ),
                ReportTable(("key", "largest y", "other"), shown, "Largest values.", self.name),
            ),
            self.claims or claims(self.name, numbered=self.of_paper),
        )


def claims(source: str, *, numbered: bool = False) -> tuple[Claim, ...]:
    """If numbered, they are the paper's, the last one first."""
    found = (
        Claim("Table 4", "The invariant update is robust.", "0.24", "**0.31**", Verdict.HOLDS, "", source),
        Claim("Section 2", "Copies cost too much.", "–", "3.1 ×", Verdict.PARTLY, "Only if large.", source),
        Claim("Figure 1", "Fewer labels suffice.", "10 %", "40 %", Verdict.FAILS, "Not known.", source),
        Claim("Section 5", "A figure.", "–", "7", Verdict.NOTED, "", source),
    )
    if not numbered:
        return found
    pairs = (Pair("rcv1", 2.0, 4.0), Pair("web", 0.5, 0.0))
    first = replace(found[0], cases=Tally(3, 0, 1), pairs=pairs)
    return tuple(replace(each, number=4 - i) for i, each in enumerate((first, *found[1:])))
