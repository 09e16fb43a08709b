"""RIS: references with titles and abstracts, for screening, as reference managers and ASReview write them.

Labels are notes in the words of ASReview, whose users can go on with the file: `N1  - ASReview_relevant`.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from steelyard.active.label_store import Document
from steelyard.io.errors import InputError
from steelyard.labelling.exchange import ORIGINAL, Outcome

TEXTS: tuple[str, ...] | None = ("title", "abstract", "keywords")
_TAG = re.compile(r"([A-Z][A-Z0-9])  -(?: (.*)|)$")
_FIELDS = {
    "title": ("TI", "T1", "CT"), "abstract": ("AB", "N2"), "keywords": ("KW",), "authors": ("AU", "A1"),
    "year": ("PY", "Y1"), "journal": ("JO", "JF", "T2", "JA"), "doi": ("DO",),
}  # fmt: skip
_LINE_END = re.compile(r"\r\n|\r|\n")  # a text may have others, such as U+2028
_MANY = ("keywords", "authors")
_NOTE = "ASReview_"
_NOTES = {0: "ASReview_irrelevant", 1: "ASReview_relevant"}  # by the index of the class


def recognise(path: str, start: bytes) -> bool:
    return path.endswith(".ris") or start.startswith(b"TY  - ")


def read(path: Path, classes: tuple[str, ...] | None) -> Iterator[Document]:
    """The references; one that no ER ends is ended by the file."""
    pairs: list[list[str]] = []
    text = path.read_bytes().decode("utf-8-sig", "replace")
    number = 0
    for line_number, line in enumerate(_LINE_END.split(text), 1):
        tag = _TAG.match(line.rstrip())
        if tag is None:
            if line.strip() and not pairs:
                raise InputError(
                    f"{path}, line {line_number}: {line[:40]!r} is before any reference (TY  - )"
                )
            if line.strip():
                pairs[-1][1] += f" {line.strip()}"
        elif tag[1] == "ER":
            yield _document(pairs, number, classes)
            pairs, number = [], number + 1
        else:
            pairs.append([tag[1], tag[2] or ""])
    if pairs:
        yield _document(pairs, number, classes)


def _document(pairs: list[list[str]], number: int, classes: tuple[str, ...] | None) -> Document:
    fields: dict[str, object] = {}
    for name, tags in _FIELDS.items():
        values = [value for tag, value in pairs if tag in tags and value]
        if values:
            fields[name] = "; ".join(values) if name in _MANY else values[0]
    notes = [value for tag, value in pairs if tag == "N1"]
    two = classes if classes is not None and len(classes) == 2 else None
    label = next((two[k] for k, note in _NOTES.items() if note in notes), None) if two else None
    own = [value for tag, value in pairs if tag in ("ID", "AN") and value]
    return Document(own[0] if own else str(number + 1), fields | {ORIGINAL: pairs}, label)


def write(outcomes: Iterable[Outcome], classes: tuple[str, ...], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for outcome in outcomes:
            pairs = [
                pair
                for pair in outcome.document.fields[ORIGINAL]
                if not (pair[0] == "N1" and pair[1].startswith(_NOTE))
            ]
            note = "ASReview_not_seen" if outcome.label is None else _NOTES[classes.index(outcome.label)]
            for tag, value in [*pairs, ["N1", note], ["ER", ""]]:
                file.write(f"{tag}  - {value}\n")
            file.write("\n")
