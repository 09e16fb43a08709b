"""Tables of the report. Each is also a CSV file, cell for cell as it is shown."""

import re
from collections.abc import Sequence

from paper.report.markup import element, inline, plain
from paper.report.output import Output
from paper.typed_csv import csv_text

_NUMBER = re.compile(r"[+−–-]?(?:[\d.,  ]*\d)(?:[ (±×/].*|[eE%].*)?|[–—]|n/a|nan|−?∞")
_SHORT = 20  # letters that stay on one line: the names of data sets have hyphens
_DIGEST = re.compile(r"[0-9a-f]{64}")


def shown(
    output: Output, name: str, heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str
) -> str:
    """The table as HTML, its caption already HTML; as CSV it is tables/shown/NAME.csv."""
    output.text(f"tables/shown/{name}.csv", as_csv(heads, rows))
    numbers = [
        bool(rows) and all(not row[i].strip() or _is_number(row[i]) for row in rows)
        for i in range(len(heads))
    ]
    head = "".join(_cell("th", text, number) for text, number in zip(heads, numbers, strict=True))
    body = "".join(
        element("tr", "".join(_cell("td", text, number) for text, number in zip(row, numbers, strict=True)))
        for row in rows
    )
    table = element("table", element("thead", element("tr", head)) + element("tbody", body))
    wide = element("div", table, class_="wide")  # a caption in the table would be as narrow as it is
    return element("figure", element("figcaption", caption) + wide, class_="table")


def as_csv(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Without the marks of bold and the like."""
    return csv_text([[plain(cell) for cell in row] for row in [heads, *rows]])


def _cell(tag: str, text: str, number: bool) -> str:
    short = tag == "td" and len(text) <= _SHORT
    kind = "digest" if _DIGEST.fullmatch(text) else "number" if number else "short" if short else ""
    scope = {"scope": "col"} if tag == "th" else {}
    return element(tag, inline(text), **scope, **({"class_": kind} if kind else {}))


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(plain(text).strip()) is not None
