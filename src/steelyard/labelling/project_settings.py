"""`ProjectSettings`: the decisions with which a labelling project begins."""

from dataclasses import dataclass

from steelyard._parameters import Parameter, bare
from steelyard.active import strategies
from steelyard.io.errors import InputError

ERROR, RECALL = "error", "recall"
DEFAULT_BUDGET = 500


@dataclass(frozen=True)
class ProjectSettings:
    """They are stored in the project's file. Budget, target and twice may change later; the pool may grow."""

    classes: tuple[str, ...]
    positive: str | None
    """The class that is looked for; None with several classes."""
    strategy: str = strategies.DEFAULT
    budget: int = DEFAULT_BUDGET
    audit: float = 0.0
    """The share of the documents that are asked for at random and never learned."""
    twice: float = 0.0
    """The share of documents that a second person labels, too."""
    measure: str = ERROR
    """What "may I stop?" is about: error, or recall for screening."""
    target: float = 0.05
    seed: int = 0
    kind: str = "table"
    """The tool that wrote the documents, or `table`."""
    tfidf: bool = False
    """Whether rare words weigh more; with two classes, both then weigh the same in refits."""
    token: str = ""
    """The secret part of the page's address, so that nobody else can open it."""

    def __post_init__(self) -> None:
        several = len(self.classes) > 2
        if len(set(self.classes)) < max(len(self.classes), 2) or not all(self.classes):
            raise InputError(
                bare("classes"), f" {','.join(self.classes)}: two or more different names are wanted, as in ham,spam"
            )  # fmt: skip
        if several and (self.measure == RECALL or not strategies.by_name(self.strategy).several):
            raise InputError(
                f"screening looks for one of two classes, and {len(self.classes)} are named: leave out ",
                Parameter("screening"), ", and use the strategy iwal, margin or random",
            )  # fmt: skip
        if self.positive not in self.classes and not (several and self.positive is None):
            raise InputError(f"the positive class {self.positive!r} is neither {' nor '.join(self.classes)}")
        for name, share in (("twice", self.twice), ("target", self.target)):
            if not 0.0 <= share <= 1.0:
                raise InputError(bare(name), f" is a share, from 0 to 1; got {share}")
