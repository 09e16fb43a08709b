"""`Plan`: which files each part learns in each round. It decides the model, and workers do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from steelyard._messages import counted
from steelyard.io.errors import InputError

Thing = TypeVar("Thing")
PARTS, ROUNDS = 8, 8
FEW_PARTS = 4  # which lose little even in two rounds (docs/clusters.md)
MANY_ROUNDS = 16  # for more than 8 parts


@dataclass(frozen=True)
class Plan:
    """A pass is `rounds` stretches of the files in order, each cut into `parts` learned side by side."""

    paths: tuple[str, ...]
    parts: int
    rounds: int
    """The rounds of one pass."""
    passes: int = 1

    @classmethod
    def of(cls, paths: Sequence[str], parts: int | None, rounds: int | None, passes: int = 1) -> "Plan":
        """Plan 8 parts and 8 rounds by default, and 16 rounds of more parts.

        Where files are too few, parts give way first: down to 4, then rounds down to 2, then parts again.
        """
        files = len(paths)
        parts = parts or _usual_parts(files, rounds)
        rounds = rounds or max(min(_usual_rounds(parts), files // parts), 1)
        if parts * rounds > files and (parts, rounds) != (1, 1):
            raise InputError(
                f"{files} files cannot be cut into {parts} parts and {rounds} rounds, which need "
                f"{parts * rounds}: ask for fewer, or cut files up ({_how_to_cut(parts * rounds)})"
            )
        return cls(tuple(paths), parts, rounds, passes)

    def remark(self, *, parts_chosen: bool) -> str | None:
        """What more files would be good for, where rounds, or parts chosen here, gave way to few of them."""
        files = counted(len(self.paths), "file")
        enough = PARTS * ROUNDS
        if parts_chosen and self.parts < PARTS and len(self.paths) < enough:
            return (
                f"more parts need more than {files}: {enough} or more are learned in {PARTS} parts and "
                f"{ROUNDS} rounds ({_how_to_cut(enough)})"
            )
        wanted = _usual_rounds(self.parts)
        if self.parts > FEW_PARTS and self.rounds < wanted and len(self.paths) < self.parts * wanted:
            return (
                f"more rounds need more than {files}: {wanted} rounds of {self.parts} parts, which cost less "
                f"accuracy, need {self.parts * wanted}; fewer parts cost less, too"
            )
        return None

    @property
    def total(self) -> int:
        """Rounds of all passes."""
        return self.passes * self.rounds

    def files(self, number: int) -> list[list[str]]:
        """The files of each part, in the round of this number, counted from 0 over all passes."""
        stretch = cut(self.paths, self.rounds)[number % self.rounds]
        return [list(each) for each in cut(stretch, self.parts)]

    def pass_of(self, number: int) -> int:
        return number // self.rounds


def _how_to_cut(files: int) -> str:
    return (
        f"split -n l/{files} cuts text without a header, such as vw and jsonl; docs/clusters.md has how to "
        "repeat that of csv and tsv"
    )


def _usual_parts(files: int, rounds: int | None) -> int:
    if rounds is not None:
        return min(PARTS, max(files // rounds, 2), files)
    if files >= 2 * FEW_PARTS:
        return min(PARTS, max(files // ROUNDS, FEW_PARTS))
    return min(2, files)


def _usual_rounds(parts: int) -> int:
    return ROUNDS if parts <= PARTS else MANY_ROUNDS


def cut(things: Sequence[Thing], count: int) -> list[Sequence[Thing]]:
    """Stretches of nearly the same length."""
    ends = [len(things) * k // count for k in range(count + 1)]
    return [things[begin:end] for begin, end in pairwise(ends)]
