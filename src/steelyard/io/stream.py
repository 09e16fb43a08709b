"""`Stream`: files in, examples out, chunk by chunk and in order, however many threads parse them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from steelyard import losses
from steelyard.examples import allowed
from steelyard.features.names import Names
from steelyard.io import ahead, sources
from steelyard.io.blocks import BLOCK_SIZE, Block
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule
from steelyard.io.parsed import Parsed
from steelyard.io.problems import Problem
from steelyard.io.sources import Source
from steelyard.losses import Loss
from steelyard.losses.sets import REAL_LINE

DESCRIBED = 20  # skipped lines that are remembered in words; all are counted


class Format(Protocol):
    """What a format has to offer. `blocks` runs on one thread, `parse` on several at once."""

    numeric_labels: bool
    """Whether labels come as the numbers in the file, still to be told apart by a rule."""

    def blocks(self, source: Source, size: int) -> Iterator[Block]: ...

    def parse(self, block: Block) -> Parsed: ...

    def nothing(self) -> Block:
        """A block with no rows, with which kernels can be loaded before the first byte is read."""
        ...


class Stream:
    """The examples of some files. Iterating goes through them once; what was met on the way is counted.

    With `skip`, lines that cannot be read are left out and counted; without, the first one ends it.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        reader: Format,
        *,
        names: Names | None = None,
        loss: Loss | None = None,
        label_rule: LabelRule | None = None,
        propensities: bool = False,
        weight_factor: float = 1.0,
        threads: int = 1,
        skip: bool = False,
        block_size: int = BLOCK_SIZE,
    ) -> None:
        self.paths = sources.expand(paths)
        self.rows = 0
        self.position = 0
        """Bytes of the files that have gone into the examples so far."""
        self.skipped = 0
        self.problems: list[Problem] = []
        self.remarks: set[str] = set()
        self._reader = reader
        self._names = names
        self._loss = loss
        self._label_rule = label_rule
        self._propensities = propensities
        self._weight_factor = weight_factor
        self._threads = threads
        self._skip = skip
        self._block_size = block_size
        self._lines = 0

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if that of one is not known, as for standard input."""
        sizes = [Path(path).stat().st_size if Path(path).is_file() else None for path in self.paths]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def __iter__(self) -> Iterator[Parsed]:
        for path in self.paths:
            self._lines = 0
            before = self.position
            with sources.opened(path) as source:
                blocks = self._reader.blocks(source, self._block_size)
                for parsed in ahead.mapped(self._reader.parse, blocks, self._threads):
                    settled = self._settle(parsed)
                    self.position = before + parsed.block.position
                    yield settled

    def _settle(self, parsed: Parsed) -> Parsed:
        """What depends on all that came before: line numbers, and which names are new."""
        for note in parsed.notes:
            self._note(parsed, note.line, note.what)
        self.skipped += parsed.skipped
        parsed = self._weighted(self._labelled(parsed))
        self._lines += parsed.lines
        self.rows += len(parsed.examples)
        self.remarks |= parsed.remarks
        if self._names is not None and parsed.candidates is not None:
            chosen = self._names.admit(parsed.candidates)
            if len(chosen) and parsed.compose is not None:
                text, lengths = parsed.compose(parsed.candidates.places[chosen])
                self._names.name(parsed.candidates.indices[chosen], text, lengths)
        return parsed

    def _labelled(self, parsed: Parsed) -> Parsed:
        """The labels as the loss takes them. Rows whose label it does not take are left out."""
        given = parsed.examples.labels
        labels, foreign = given, np.zeros(len(given), bool)
        if self._label_rule is not None and self._reader.numeric_labels:
            labels, foreign = self._label_rule.numbers(given)
        if self._loss is not None:
            foreign |= ~(allowed(labels, self._loss) | np.isnan(given))
        if labels is not given:
            parsed = replace(parsed, examples=replace(parsed.examples, labels=labels))
        if not foreign.any():
            return parsed
        for row in np.flatnonzero(foreign).tolist():
            self._note(parsed, self._line_of(parsed, row), f"the label {given[row]:g} {self._wanted()}")
        self.skipped += int(foreign.sum())
        return parsed.take(np.flatnonzero(~foreign))

    def _weighted(self, parsed: Parsed) -> Parsed:
        """Propensities become weights: one over the chance with which a row was to be seen."""
        examples = parsed.examples
        if not self._propensities:
            if self._weight_factor == 1.0:
                return parsed
            return replace(
                parsed, examples=replace(examples, importances=examples.importances * self._weight_factor)
            )
        given = examples.importances
        impossible = (given == 0.0) & ~np.isnan(examples.labels)
        for row in np.flatnonzero(impossible).tolist():
            self._note(
                parsed, self._line_of(parsed, row), "a propensity of 0: what cannot happen has no weight"
            )
        with np.errstate(divide="ignore"):
            weights = np.where(given > 0.0, self._weight_factor / given, 0.0)
        parsed = replace(parsed, examples=replace(examples, importances=weights))
        self.skipped += int(impossible.sum())
        return parsed.take(np.flatnonzero(~impossible)) if impossible.any() else parsed

    def _wanted(self) -> str:
        if self._label_rule is not None:
            return f"is neither {self._label_rule.negative} nor {self._label_rule.positive}, see --labels"
        assert self._loss is not None
        takes = f"is none for {losses.name_of(self._loss) or type(self._loss).__name__} loss, which takes"
        two = " (--labels negative,positive says which of two labels is which)"
        return f"{takes} {self._loss.labels}{two if self._loss.labels != REAL_LINE else ''}"

    def _line_of(self, parsed: Parsed, row: int) -> int:
        """Which line of the block has made this row: the first with which so many rows come out."""
        return bisect_left(
            range(parsed.lines),
            row + 1,
            key=lambda line: len(self._reader.parse(parsed.block.first(line + 1)).examples),
        )

    def _note(self, parsed: Parsed, line: int, what: str) -> None:
        unit = parsed.block.unit
        problem = Problem(parsed.block.path, self._lines + line + 1, what, unit)
        if not self._skip:
            raise InputError(f"{problem}\n(--on-error skip leaves such {unit}s out and counts them)")
        if len(self.problems) < DESCRIBED:
            self.problems.append(problem)
