"""Files of other tools: each module reads documents with their labels, and writes them again with ours."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from steelyard.active.label_store import Document

TOOLS = ("ris", "label-studio", "prodigy")
ORIGINAL = "_original"
"""The field in which a document keeps what the tool had, to be written again."""


@dataclass(frozen=True)
class Outcome:
    """A document as it is handed over. `label` is what people said; None if nobody did, or all skipped."""

    document: Document
    label: str | None
    skipped: bool
    annotator: str | None
    time: float | None
    prediction: str
    chances: dict[str, float]
    """The probability of each class."""


class Tool(Protocol):
    """What a module here has."""

    TEXTS: tuple[str, ...] | None
    """The fields that are texts; None: all of them but the original."""

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
        return None  # the reader of tables says what is wrong
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((name for name in TOOLS if by_name(name).recognise(path.lower(), start)), None)
