"""What a study is: steps to be done, and a part of the report to be told from their rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from matplotlib.figure import Figure

Cell = str | int | float | bool
Row = dict[str, Cell]
T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """A piece of work, seconds to a minute. Its rows go to the table; its key is a file name in it.

    `inputs` are whatever the rows depend on besides the code of the study: data (by `Data.digest`), seeds,
    sizes. If they change, the step is done anew.
    """

    table: str
    key: str
    inputs: Mapping[str, Any]
    compute: Callable[[], list[Row]]


class Verdict(Enum):
    """Whether a claim of the paper holds here."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold here"
    NOTED = "noted"
    """A figure without a claim to be judged."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, in our words, and what the data say of it."""

    where: str
    """In the paper: "Table 4", "Section 2"."""
    says: str
    paper: str
    """The paper's figure; "–" where it gives none."""
    ours: str
    verdict: Verdict
    why: str
    """A sentence, always where the claim does not hold: the reason, or that it is not known."""
    source: str
    """The table whose rows show it: `passive` is tables/passive.csv."""


@dataclass(frozen=True)
class ReportFigure:
    """A picture that is legible on its own; saved as SVG and PDF under its name."""

    name: str
    drawing: Figure
    caption: str
    source: str


@dataclass(frozen=True)
class ReportTable:
    """Cells as they are to be read. The numbers come from rows of `source`."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    source: str


@dataclass(frozen=True)
class Part:
    """A section of the report. Paragraphs may hold **bold**, *italics*, `code` and [links](#part)."""

    blocks: Sequence[str | ReportFigure | ReportTable]
    claims: Sequence[Claim] = field(default_factory=tuple)


@dataclass(frozen=True)
class Scope:
    """How much is to be done: everything, or a few minutes' worth that still shows every claim."""

    quick: bool = False

    def choose(self, whole: T, quick: T) -> T:
        return quick if self.quick else whole


Tables = Mapping[str, list[Row]]


class Study(ABC):
    """One part of the paper. Its name begins the names of its tables and figures."""

    name: str
    title: str

    @abstractmethod
    def steps(self, scope: Scope) -> list[Step]:
        """All of them, beforehand: making the list loads no data and computes nothing."""

    @abstractmethod
    def part(self, tables: Tables, scope: Scope) -> Part:
        """What is to be told, from the rows of the study's own tables; no work of any length."""
