"""What is done with one block, on any thread: parse it for each model, score it, render what is kept."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Message, Parameter, message_of
from steelyard.examples import Examples
from steelyard.filtering.audit_sample import AuditSample, Candidate
from steelyard.filtering.conditions import Condition
from steelyard.filtering.inputs import Input, Prepared, Preparer
from steelyard.filtering.scorer import Scorers
from steelyard.filtering.statistics import Statistics
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError, RowError

SKIPPING = Parameter("skip_errors", True)


@dataclass(frozen=True)
class Task:
    """A block of a file by its number; None: the end of the file."""

    prepared: Prepared
    number: int
    block: Block | None


@dataclass(frozen=True)
class BlockScores:
    """The rows of a block that could be read: their places among its records, and their scores."""

    rows: NDArray[np.int64]
    scores: dict[str, NDArray[Any]]
    lines: int
    unreadable: int
    empty: int
    """Rows without any feature, such as documents without text."""
    notes: list[RowError]


@dataclass(frozen=True)
class Result:
    """What is to be written of a block, and what is known of it."""

    task: Task
    kept: Any = None
    rejected: Any = None
    statistics: Statistics = field(default_factory=Statistics)
    lines: int = 0
    notes: list[RowError] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)


def score(prepared: Prepared, block: Block, scorers: Scorers) -> BlockScores:
    """A row must be readable for every model."""
    parsed = [reader.parse(block) for reader in prepared.readers]
    good = [
        reader.records.read(found) if found.skipped else np.ones(len(found.examples), bool)
        for reader, found in zip(prepared.readers, parsed, strict=True)
    ]
    both = np.logical_and.reduce(good)
    predictions = []
    for scorer, index in zip(scorers.each, prepared.reader_index, strict=True):
        own = scorer.model.engine.predict(parsed[index].examples)
        predictions.append(own if len(prepared.readers) == 1 else own[both[good[index]]])
    notes = sorted((note for found in parsed for note in found.notes), key=lambda note: note.line)
    empty = [without_features(found.examples)[both[own]] for found, own in zip(parsed, good, strict=True)]
    return BlockScores(
        np.flatnonzero(both), scorers.score(predictions), parsed[0].lines, int((~both).sum()),
        int(np.logical_or.reduce(empty).sum()), notes,
    )  # fmt: skip


def without_features(examples: Examples) -> NDArray[np.bool_]:
    """Which rows have no feature."""
    found: NDArray[np.bool_] = examples.indptr[1:] == examples.indptr[:-1]
    return found


@dataclass(frozen=True)
class BlockFilter:
    """Takes tasks; `condition` None keeps every row."""

    scorers: Scorers
    condition: Condition | None
    rejects: bool
    sample: AuditSample | None

    def __call__(self, task: Task) -> Result:
        prepared, block = task.prepared, task.block
        if block is None:
            return Result(task)
        found = score(prepared, block, self.scorers)
        keep = np.ones(len(found.rows), bool)
        if self.condition is not None:
            keep = self.condition(found.scores.__getitem__)
        names = self.scorers.columns
        candidates = []
        if self.sample is not None:
            candidates = self.sample.candidates(task, found.rows, keep)
        return Result(
            task,
            self._render(task, found, keep),
            self._render(task, found, ~keep) if self.rejects else None,
            Statistics.of_block(found.scores, names, keep, found.unreadable, found.empty),
            found.lines,
            found.notes,
            candidates,
        )

    def _render(self, task: Task, found: BlockScores, chosen: NDArray[np.bool_]) -> Any:
        prepared = task.prepared
        assert task.block is not None
        assert prepared.renderer is not None
        if not chosen.any():
            return None
        columns = [found.scores[name][chosen] for name in self.scorers.columns]
        rendered = prepared.renderer.render(task.block, found.rows[chosen], columns)
        return rendered if prepared.renderer.schema is not None else prepared.compress(rendered)


class UnreadableFileError(InputError):
    """A file that is damaged or makes no sense; others may be fine."""

    def __init__(self, input: Input, error: InputError) -> None:  # noqa: A002
        super().__init__(message_of(error))
        self.input = input

    def with_remedy(self, *, others: bool) -> InputError:
        """The same for people; of several files the others can be filtered without it."""
        remedy = Message("\n(", SKIPPING, " leaves such files out, and names them at the end)")
        return InputError(message_of(self), remedy if others else "")


def tasks(inputs: Sequence[Input], preparer: Preparer, begin: Callable[[Prepared], int]) -> Iterator[Task]:
    """The blocks of all files, each of which is opened once; `begin` says how many blocks of it are done."""
    for each in inputs:
        try:
            with preparer.open(each) as head:
                prepared = preparer.prepare(each, head)
                done = begin(prepared)
                for number, block in enumerate(prepared.blocks(head.source)):
                    if number >= done:
                        yield Task(prepared, number, block)
        except InputError as error:
            raise UnreadableFileError(each, error) from None
        yield Task(prepared, -1, None)
