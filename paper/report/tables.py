"""Tables of the page. Each is also a CSV file, cell for cell as on the page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from paper.report.markup import remove_marks
from paper.report.output import Output
from paper.typed_csv import join_csv

_NUMBER = re.compile(r"[+−–-]?(?:[\d.,  ]*\d)(?:[ (±×/].*|[eE%].*)?|[–—]|n/a|nan|−?∞")
_SHORT = 20  # letters that stay on one line: the names of data sets have hyphens
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PageTable:
    """A table as the template takes it: every cell with the name of its class, which may be empty."""

    name: str
    heads: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[tuple[str, str]]]
    caption: str
    title: str = ""
    source: str = ""
    kind: str = "table"


def lay_out(
    output: Output,
    name: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    title: str = "",
    source: str = "",
) -> PageTable:
    """Write the table to tables/shown/NAME.csv, and prepare it for the page."""
    output.write_text(f"tables/shown/{name}.csv", format_csv(heads, rows))
    numeric = [
        bool(rows) and all(not row[i].strip() or _is_number(row[i]) for row in rows)
        for i in range(len(heads))
    ]
    whose = [_whose(head) for head in heads]
    return PageTable(
        name,
        [
            (head, f"{'number' if number else ''} {side}".strip())
            for head, number, side in zip(heads, numeric, whose, strict=True)
        ],
        [
            [
                (cell, f"{_classify(cell, number)} {side}".strip())
                for cell, number, side in zip(row, numeric, whose, strict=True)
            ]
            for row in rows
        ],
        caption,
        title,
        source,
    )


def format_csv(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as CSV, without the marks of bold and the like."""
    return join_csv([[remove_marks(cell) for cell in row] for row in [heads, *rows]])


def _whose(head: str) -> str:
    """Columns of the paper's numbers and of ours look different: "hinge, paper", "rcv1-ccat, here"."""
    last = head.rpartition(", ")[2]
    return {"paper": "paper", "here": "ours"}.get(last, "")


def _classify(cell: str, number: bool) -> str:
    if _DIGEST.fullmatch(cell):
        return "digest"
    return "number" if number else "short" if len(cell) <= _SHORT else ""


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(remove_marks(text).strip()) is not None
