"""Vowpal Wabbit and svmlight text: the compiled parsers beside slow ones in plain Python, line by line."""

from pathlib import Path
from random import Random

from tests.text import mutation
from tests.text.test_text_lines import FURTHER, check_as_it_is

_BATCH = 100


class SparseText:
    def __init__(self, kind: str, suffix: str) -> None:
        self._kind = kind
        self._lines = [line for text in mutation.seeds(suffix) for line in text.split(b"\n")]
        self._lines += [b"" if not line else line[: len(line) // 2] for line in self._lines]
        self._parts = [line for line in self._lines if line]

    def draw(self, chance: Random) -> bytes:
        lines = [mutation.mutated(chance.choice(self._lines), self._parts, chance) for _ in range(_BATCH)]
        # Features near the end of a text are read another way than those with more of it behind them.
        return b"".join(lines) + (FURTHER if chance.random() < 0.5 else b"")

    def check(self, data: bytes) -> int:
        check_as_it_is(data, self._kind)
        return data.count(b"\n")


def _vw(_: Path) -> SparseText:
    return SparseText("vw", "vw")


def _svmlight(_: Path) -> SparseText:
    return SparseText("svmlight", "svm")


TARGETS = {"vw": _vw, "svmlight": _svmlight}
