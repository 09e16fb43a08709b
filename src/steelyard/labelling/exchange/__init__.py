"""Files of other tools: each module reads documents and labels, and writes them again with people's labels."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from steelyard.active.label_store import Document

TOOLS = ("ris", "label-studio", "prodigy")
ORIGINAL = "_original"
"""The field with all that the tool's file has about a document, so that it can be written again."""


@dataclass(frozen=True)
class Outcome:
    """A document with its label and prediction. The label is None if nobody labelled it, or all skipped."""

    document: Document
    label: str | None
    skipped: bool
    annotator: str | None
    """The last person who gave this label."""
    time: float | None
    prediction: str
    probabilities: dict[str, float]
    """The probability of each class."""


class Tool(Protocol):
    """The functions that a module of this package has."""

    TEXTS: tuple[str, ...] | None
    """The fields that are texts; None: all but the original."""

    def recognise(self, path: str, start: bytes) -> bool: ...

    def read(self, path: Path, classes: tuple[str, ...] | None) -> Iterator[Document]: ...

    def write(self, outcomes: Iterable[Outcome], classes: tuple[str, ...], path: Path) -> None: ...


def by_name(name: str) -> Tool:
    module: Any = import_module(f"{__name__}.{name.replace('-', '_')}")
    return module  # type: ignore[no-any-return]


def recognise(path: str) -> str | None:
    """The tool that wrote a file, by its name and first bytes."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(1 << 16)
    except OSError:
        return None  # the reader of tables says why
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((name for name in TOOLS if by_name(name).recognise(path.lower(), start)), None)
