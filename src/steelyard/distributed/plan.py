"""`Plan`: which files each part learns in each round. It decides the model, and workers do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from steelyard.io.errors import InputError

Thing = TypeVar("Thing")
PARTS = 8
ROUNDS = 4


@dataclass(frozen=True)
class Plan:
    """A pass is `rounds` stretches of the files in order, each cut into `parts` learned side by side."""

    paths: tuple[str, ...]
    parts: int
    rounds: int
    """In a pass."""
    passes: int = 1

    @classmethod
    def of(cls, paths: Sequence[str], parts: int | None, rounds: int | None, passes: int = 1) -> "Plan":
        """By default 8 parts and 4 rounds. Where there are too few files, rounds matter more than parts."""
        files = len(paths)
        parts = parts or min(PARTS, max(files // (rounds or ROUNDS), 2), files)
        rounds = rounds or max(min(ROUNDS, files // parts), 1)
        if parts * rounds > files and (parts, rounds) != (1, 1):
            raise InputError(
                f"{files} files cannot be cut into {parts} parts and {rounds} rounds, which need "
                f"{parts * rounds}: ask for fewer, or cut files up (split -n l/{parts * rounds} cuts text)"
            )
        return cls(tuple(paths), parts, rounds, passes)

    @property
    def total(self) -> int:
        """Rounds of all passes."""
        return self.passes * self.rounds

    def files(self, number: int) -> list[list[str]]:
        """Of each part, in the round of this number, counted from 0 over all passes."""
        stretch = cut(self.paths, self.rounds)[number % self.rounds]
        return [list(each) for each in cut(stretch, self.parts)]

    def pass_of(self, number: int) -> int:
        return number // self.rounds


def cut(things: Sequence[Thing], count: int) -> list[Sequence[Thing]]:
    """Stretches of nearly the same length."""
    ends = [len(things) * k // count for k in range(count + 1)]
    return [things[begin:end] for begin, end in pairwise(ends)]
