"""`Stream`: files in, examples out, chunk by chunk and in order, however many threads parse them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard.examples import Examples, allowed
from steelyard.features.names import Names
from steelyard.io import prefetch, sources
from steelyard.io.blocks import Block, usual_size
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule, plain
from steelyard.io.parsed_block import ParsedBlock, RowError
from steelyard.io.problems import Problem
from steelyard.io.sources import Source
from steelyard.losses import REAL_LINE, Loss

DESCRIBED = 20  # skipped lines that are remembered in words; all are counted


class Format(Protocol):
    """What a format has to offer. `blocks` runs on one thread, `parse` on several at once."""

    numeric_labels: bool
    """Whether labels come as the numbers in the file, still to be told apart by a rule."""

    def blocks(self, source: Source, size: int) -> Iterator[Block]: ...

    def parse(self, block: Block) -> ParsedBlock: ...

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
        block_size: int | None = None,
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
        self._block_size = block_size or usual_size(threads)
        self._lines = 0

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if that of one is not known, as for standard input."""
        sizes = [Path(path).stat().st_size if Path(path).is_file() else None for path in self.paths]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def unmet(self) -> list[str]:
        """Namespaces that are to be crossed and that no row has had; columns are known beforehand."""
        return getattr(self._reader, "unmet", [])

    def __iter__(self) -> Iterator[ParsedBlock]:
        for path in self.paths:
            self._lines = 0
            before = self.position
            with sources.opened(path) as source:
                blocks = self._reader.blocks(source, self._block_size)
                with closing(prefetch.mapped(self._reader.parse, blocks, self._threads)) as ready:
                    for parsed in ready:
                        settled = self._settle(parsed)
                        self.position = before + parsed.block.position
                        yield settled

    def _settle(self, parsed: ParsedBlock) -> ParsedBlock:
        """What depends on all that came before: line numbers, and which names are new."""
        labels, reasons = self._labels(parsed.examples)
        weights, further = self._weights(parsed.examples)
        reasons = further | reasons
        self._note(parsed, reasons)
        self.skipped += parsed.skipped + len(reasons)
        parsed = replace(parsed, examples=replace(parsed.examples, labels=labels, sample_weight=weights))
        if reasons:
            parsed = parsed.take(np.setdiff1d(np.arange(len(labels)), list(reasons)))
        self._lines += parsed.lines
        self.rows += len(parsed.examples)
        self.remarks |= parsed.remarks
        if self._names is not None and parsed.candidates is not None:
            chosen = self._names.admit(parsed.candidates)
            if len(chosen) and parsed.compose is not None:
                text, lengths = parsed.compose(parsed.candidates.places[chosen])
                self._names.name(parsed.candidates.indices[chosen], text, lengths)
        return parsed

    def _labels(self, examples: Examples) -> tuple[NDArray[np.float64], dict[int, str]]:
        """The labels as the loss takes them, and what is wrong with the rows whose label it does not take."""
        given = examples.labels
        labels, foreign = given, np.zeros(len(given), bool)
        if self._label_rule is not None and self._reader.numeric_labels:
            labels, foreign = self._label_rule.numbers(given)
        if self._loss is not None:
            foreign |= ~(allowed(labels, self._loss) | np.isnan(given))
        rows = np.flatnonzero(foreign).tolist()
        return labels, {row: self._describe_label(plain(float(given[row]))) for row in rows}

    def _weights(self, examples: Examples) -> tuple[NDArray[np.float64], dict[int, str]]:
        """Propensities become weights: one over the chance with which a row was to be seen."""
        given = examples.sample_weight
        if not self._propensities:
            return given if self._weight_factor == 1.0 else given * self._weight_factor, {}
        with np.errstate(divide="ignore", over="ignore"):
            weights = np.where(given > 0.0, self._weight_factor / given, 0.0)
        impossible = ((given == 0.0) | np.isinf(weights)) & ~np.isnan(examples.labels)
        return weights, {
            row: f"a propensity of {given[row]:g}: what cannot happen has no weight"
            for row in np.flatnonzero(impossible).tolist()
        }

    def empty(self, otherwise: str) -> InputError:
        """Why nothing has come of it: because all was skipped, or otherwise."""
        if not self.skipped:
            return InputError(otherwise)
        some = "\n".join(map(str, self.problems[:2]))  # the first may be a remark, and no row
        return InputError(f"no row is left: {self.skipped} could not be used, the first is\n{some}")

    def _describe_label(self, label: str) -> str:
        """What is wrong with a label that cannot be learned."""
        if self._label_rule is not None:
            return self._label_rule.describe_unknown(label)
        assert self._loss is not None
        name = losses.name_of(self._loss) or type(self._loss).__name__
        two = " (--labels negative,positive says which of two labels is which)"
        return (
            f"the label {label} is none for {name} loss, which takes {self._loss.labels_in_words()}"
            f"{two if self._loss.labels != REAL_LINE else ''}"
        )

    def _line_of(self, parsed: ParsedBlock, row: int) -> int:
        """Which line of the block has made this row: the first with which so many rows come out."""
        return bisect_left(
            range(parsed.lines),
            row + 1,
            key=lambda line: len(self._reader.parse(parsed.block.first(line + 1)).examples),
        )

    def _note(self, parsed: ParsedBlock, reasons: dict[int, str]) -> None:
        """Say what is wrong, in the order of lines: with lines left out, and with rows that will be."""
        unit = parsed.block.unit
        wanted = DESCRIBED - len(self.problems) if self._skip else 1
        rows = [RowError(self._line_of(parsed, row), reasons[row]) for row in sorted(reasons)[:wanted]]
        for note in sorted([*parsed.notes, *rows], key=lambda note: note.line)[:wanted]:
            problem = Problem(parsed.block.path, self._lines + note.line + 1, note.what, unit)
            if not self._skip:
                raise InputError(f"{problem}\n(--on-error skip leaves such {unit}s out and counts them)")
            self.problems.append(problem)
