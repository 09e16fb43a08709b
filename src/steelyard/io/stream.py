"""`Stream`: the examples of files, chunk by chunk and in order, parsed on several threads."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard._messages import counted
from steelyard._parameters import Message, Parameter, joined
from steelyard.examples import Examples, allowed
from steelyard.features import Names
from steelyard.io import grouped_rows, sources
from steelyard.io.blocks import Block, ParsedBlock, usual_size
from steelyard.io.errors import InputError, Problem, RowError
from steelyard.io.labels import LabelRule, plain
from steelyard.io.read_ahead import map_ahead
from steelyard.io.sources import Source
from steelyard.losses import Loss

DESCRIBED = 20  # skipped lines that are described; all are counted


class Reader(Protocol):
    """The reader of a format. `blocks` runs on one thread, `parse` on several at once."""

    numeric_labels: bool
    """Whether labels come as the numbers in the file, to which the label rule has yet to be applied."""

    def blocks(self, source: Source, size: int) -> Iterator[Block]: ...

    def parse(self, block: Block) -> ParsedBlock: ...

    def nothing(self) -> Block:
        """A block without rows, to load the kernels with before the first byte is read."""
        ...


class Stream:
    """The examples of some files. Iterating reads them once, and counts rows, bytes and problems.

    Patterns are not expanded here: `sources.expand` does that once, where paths come from.

    With `skip`, lines that cannot be read are left out and counted; without, the first one raises. With
    `prompt`, what has been parsed is not held back until more has been read. With `counted`, labels are the
    positives of as many examples as weights say, and each row becomes two: see `io/grouped_rows.py`.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        reader: Reader,
        *,
        names: Names | None = None,
        loss: Loss | None = None,
        label_rule: LabelRule | None = None,
        propensities: bool = False,
        weight_factor: float = 1.0,
        counted: bool = False,
        threads: int = 1,
        skip: bool = False,
        block_size: int | None = None,
        prompt: bool = False,
        encoding: str | None = None,
    ) -> None:
        self.paths = [str(path) for path in paths]
        self.rows = 0
        self.position = 0
        """Bytes of the files read so far."""
        self.skipped = 0
        self.problems: list[Problem] = []
        self.several_labels = 0
        self._remarks: set[str] = set()
        self._reader = reader
        self._names = names
        self._loss = loss
        self._label_rule = label_rule
        self._propensities = propensities
        self._weight_factor = weight_factor
        self._counted = counted
        self._threads = threads
        self._skip = skip
        self._prompt = prompt
        self._block_size = block_size or usual_size(threads)
        self._encoding = encoding
        self._lines = 0

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if one size is not known, as for standard input."""
        sizes = [Path(path).stat().st_size if Path(path).is_file() else None for path in self.paths]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def remarks(self) -> set[str]:
        """What the user should be told once."""
        return self._remarks | ({several_labels(self.several_labels)} if self.several_labels else set())

    @property
    def unmet(self) -> list[str]:
        """Namespaces in interactions that no row has had; columns are known beforehand."""
        return getattr(self._reader, "unmet", [])

    def __iter__(self) -> Iterator[ParsedBlock]:
        for path in self.paths:
            self._lines = 0
            before = self.position
            with sources.open_source(path, self._encoding) as source:
                blocks = self._reader.blocks(source, self._block_size)
                with closing(
                    map_ahead(self._reader.parse, blocks, self._threads, prompt=self._prompt)
                ) as ready:
                    for parsed in ready:
                        finished = self._finish_block(parsed)
                        self.position = before + parsed.block.position
                        yield finished

    def _finish_block(self, parsed: ParsedBlock) -> ParsedBlock:
        """Do what depends on the blocks before: line numbers, and which names are new."""
        if self._counted:
            labels, weights = parsed.examples.labels, parsed.examples.sample_weight
            reasons = grouped_rows.find_problems(labels, weights)
        else:
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
        self.several_labels += parsed.several_labels
        self._remarks |= parsed.remarks
        parsed.collect_names(self._names)
        if self._counted:
            assert self._label_rule is not None
            return grouped_rows.unfold(
                parsed, self._label_rule.low, self._label_rule.high, self._weight_factor
            )
        return parsed

    def _labels(self, examples: Examples) -> tuple[NDArray[np.float64], dict[int, str]]:
        """The labels as the loss takes them, and what is wrong with the labels it does not take."""
        given = examples.labels
        labels, foreign = given, np.zeros(len(given), bool)
        if self._label_rule is not None and self._reader.numeric_labels:
            labels, foreign = self._label_rule.numbers(given)
        if self._loss is not None:
            foreign |= ~(allowed(labels, self._loss) | np.isnan(given))
        rows = np.flatnonzero(foreign).tolist()
        return labels, {row: self._describe_label(plain(float(given[row]))) for row in rows}

    def _weights(self, examples: Examples) -> tuple[NDArray[np.float64], dict[int, str]]:
        """Turn propensities into weights: one over the probability that a row was observed."""
        given = examples.sample_weight
        if not self._propensities:
            return given if self._weight_factor == 1.0 else given * self._weight_factor, {}
        with np.errstate(divide="ignore", over="ignore"):
            weights = np.where(given > 0.0, self._weight_factor / given, 0.0)
        impossible = ((given == 0.0) | np.isinf(weights)) & ~np.isnan(examples.labels)
        return weights, {
            row: f"a propensity of {given[row]:g}: a propensity must be above 0"
            for row in np.flatnonzero(impossible).tolist()
        }

    def empty(self, otherwise: str) -> InputError:
        """The error for a stream without usable rows: all were skipped, or `otherwise`."""
        if not self.skipped:
            return InputError(otherwise)
        # the first may be a comment, not a row
        some = joined("\n", [problem.message for problem in self.problems[:2]])
        return InputError(f"no row is left: {self.skipped} could not be used; the first is\n", some)

    def _describe_label(self, label: str) -> str:
        """What is wrong with a label that cannot be learned; a loss for any number takes all finite ones."""
        if self._label_rule is not None:
            return self._label_rule.describe_unknown(label)
        assert self._loss is not None
        name = losses.name_of(self._loss) or type(self._loss).__name__
        suits = f"the label {label} does not suit {name} loss, which takes {self._loss.labels_in_words()}"
        two = Parameter("labels", "negative,positive")
        return Message(suits, " (", two, " says which of two labels is which)")

    def _line_of(self, parsed: ParsedBlock, row: int) -> int:
        """The line of the block that has made this row: the first with which there are so many rows."""
        return bisect_left(
            range(parsed.lines),
            row + 1,
            key=lambda line: len(self._reader.parse(parsed.block.first(line + 1)).examples),
        )

    def _note(self, parsed: ParsedBlock, reasons: dict[int, str]) -> None:
        """Note what is wrong, in the order of lines: with lines left out, and with rows that will be."""
        unit = parsed.block.unit
        wanted = DESCRIBED - len(self.problems) if self._skip else 1
        rows = [RowError(self._line_of(parsed, row), reasons[row]) for row in sorted(reasons)[:wanted]]
        for note in sorted([*parsed.notes, *rows], key=lambda note: note.line)[:wanted]:
            problem = Problem(parsed.block.path, self._lines + note.line + 1, note.what, unit)
            if not self._skip:
                remedy = Parameter("on_error", "skip"), f" leaves such {unit}s out and counts them)"
                raise InputError(problem.message, "\n(", *remedy)
            self.problems.append(problem)


def several_labels(rows: int) -> str:
    """What to tell of so many rows with several labels."""
    have = "has" if rows == 1 else "have"
    return f"{counted(rows, 'row')} {have} several labels: the first one counts, the others are left out"
