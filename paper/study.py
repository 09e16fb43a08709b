"""What a study is: steps to compute, and a section of the report written from their rows."""

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
    """A piece of work of seconds to a minute. Its rows go to the table; its key names a file in it.

    `inputs` are everything the rows depend on besides the code of the study: data (by `data.digest`), seeds,
    sizes. If they change, the step is computed again.
    """

    table: str
    key: str
    inputs: Mapping[str, Any]
    compute: Callable[[], list[Row]]


class Verdict(Enum):
    """Whether a claim holds here."""

    HOLDS = "holds"
    PARTLY = "mixed"
    FAILS = "contradicted"
    NOTED = "noted"
    """A figure without a claim to judge."""


@dataclass(frozen=True)
class Tally:
    """Cases that are as claimed, that are not told apart, and that are the other way round."""

    agree: int
    ties: int
    against: int


@dataclass(frozen=True)
class Pair:
    """One number of the paper beside ours, for a small picture in the table of claims."""

    label: str
    paper: float
    ours: float


@dataclass(frozen=True)
class Claim:
    """A claim in our words, and what the data say about it."""

    where: str
    """The place in the paper: "Table 4", "Section 2"."""
    says: str
    paper: str
    """The paper's figure; "–" if it gives none."""
    ours: str
    verdict: Verdict
    why: str
    """The reason, or that it is not known; required if the claim does not hold."""
    source: str
    """The table with the evidence: `passive` is tables/passive.csv."""
    number: int = 0
    """7 for C7, the seventh claim of the paper; 0 for a question of our own."""
    cases: Tally | None = None
    pairs: Sequence[Pair] = ()


@dataclass(frozen=True)
class ReportFigure:
    """A figure that can be read on its own; saved as SVG and PDF under its name."""

    name: str
    drawing: Figure
    caption: str
    source: str
    title: str = ""
    """"Figure 1" if it is the paper's; else it is numbered within its section."""


@dataclass(frozen=True)
class ReportTable:
    """A table of formatted cells. The numbers come from rows of `source`."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    source: str
    title: str = ""
    """"Table 1" if it is the paper's; else it is numbered within its section."""


@dataclass(frozen=True)
class Part:
    """The content of a section. Paragraphs may contain **bold**, *italics*, `code` and [links](#part)."""

    blocks: Sequence[str | ReportFigure | ReportTable]
    claims: Sequence[Claim] = field(default_factory=tuple)


@dataclass(frozen=True)
class Scope:
    """How much to compute: everything, or a few minutes' worth that still covers every claim."""

    quick: bool = False

    def choose(self, whole: T, quick: T) -> T:
        return quick if self.quick else whole


Tables = Mapping[str, list[Row]]


class Study(ABC):
    """One part of the paper. The names of its tables and figures begin with its name."""

    name: str
    title: str
    of_paper: bool = False
    """Whether the section has tables or figures of the paper, and not only questions of our own."""

    @abstractmethod
    def steps(self, scope: Scope) -> list[Step]:
        """All steps. Making the list loads no data and computes nothing."""

    @abstractmethod
    def part(self, tables: Tables, scope: Scope) -> Part:
        """The section, from the rows of the study's own tables; this takes no time."""
