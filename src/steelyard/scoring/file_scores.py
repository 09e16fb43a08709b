"""`FileScores`: the rows of files with their scores, block by block: one loop for everything that scores files."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Parameter
from steelyard.engine import file_labels
from steelyard.engine.protocol import Predicts
from steelyard.engine.run_options import RunOptions
from steelyard.examples import Examples
from steelyard.io.blocks import ParsedBlock
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.scoring.absent_columns import AbsentColumns
from steelyard.scoring.matching import match_files, with_encoding
from steelyard.scoring.predicting import PredictingReader, accept_any_labels
from steelyard.scoring.scores import Meaning, Scores


@dataclass(frozen=True)
class ScoringOptions:
    """What the user says about the files."""

    run: RunOptions = field(default_factory=RunOptions)
    labels: str | None = None
    """What the classes are called here, if not what they were called in training."""
    encoding: str | None = None
    labelled: bool = False
    """Whether labels matter: then they must be those of the model."""
    one_table: bool = False
    """Whether the files are parts of one table, which is written again."""
    prompt: bool = False
    """Whether no prediction is held back until more has been read."""


class ScoringModel(Protocol):
    """What scoring needs of a model."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def engine(self) -> Predicts: ...

    @property
    def meaning(self) -> Meaning: ...

    def spec(self) -> InputSpec:
        """How it reads files."""
        ...


@dataclass(frozen=True)
class ScoredBlock:
    """The rows of a block that could be read, and their scores."""

    parsed: ParsedBlock
    scores: Scores

    @property
    def examples(self) -> Examples:
        return self.parsed.examples

    def __len__(self) -> int:
        return len(self.examples)

    def weighted(self, sample_weight: NDArray[np.float64]) -> "ScoredBlock":
        """The same rows with other weights."""
        examples = replace(self.examples, sample_weight=sample_weight)
        return replace(self, parsed=replace(self.parsed, examples=examples))


class FileScores:
    """Scores files as they are iterated over, which works once.

    `spec` says how they are read, and `records` are their rows as they stand there.
    """

    def __init__(
        self,
        model: ScoringModel,
        paths: Sequence[str],
        options: ScoringOptions,
        tell: Callable[[str], None],
    ) -> None:
        own = with_encoding(model.spec(), options.encoding)
        spec, self.records = match_files(own, paths, model.name, one_table=options.one_table)
        if options.labels is not None:
            spec = _with_labels(spec, model, options.labels)
        if not options.labelled:
            spec = accept_any_labels(spec)
        elif spec.label_rule is not None:
            spec = replace(spec, label_rule=replace(spec.label_rule, closed=True))
        self.spec, self._meaning = spec, model.meaning
        self.stream = _stream(model.engine, spec, paths, options)
        self._absent = AbsentColumns(spec, tell)

    def __iter__(self) -> Iterator[ScoredBlock]:
        for parsed in self._absent.watch(self.stream):
            assert parsed.predictions is not None
            yield ScoredBlock(parsed, self._meaning.of(parsed.predictions))


def _stream(engine: Predicts, spec: InputSpec, paths: Sequence[str], options: ScoringOptions) -> Stream:
    """The files with predictions, made by the threads that parse. Labels are checked only where they matter."""
    labelled, run = options.labelled, options.run
    return Stream(
        paths,
        PredictingReader(spec.reader(), engine),
        loss=engine.settings[0].loss if labelled and engine.classes <= 2 else None,
        label_rule=spec.label_rule if labelled else None,
        propensities=spec.propensities and labelled,
        counted=spec.counted and labelled,
        weight_factor=spec.weight_factor,
        threads=run.usable_threads,
        skip=run.skip_errors,
        prompt=options.prompt,
        encoding=spec.encoding,
    )


def _with_labels(spec: InputSpec, model: ScoringModel, labels: str) -> InputSpec:
    """The same, with other names for the classes, given in their order."""
    names = [name.strip() for name in labels.split(",")]
    known = model.meaning.classes
    if known is None:
        raise InputError(Parameter("labels", labels), ": the model predicts numbers, and knows no classes")
    if len(names) != len(known):
        classes = f"{len(known)} classes, {', '.join(known)}"
        raise InputError(Parameter("labels", labels), f": the model has {classes}")
    return replace(
        spec, label_rule=file_labels.infer_labels([], spec, [], model.meaning.loss, named=names).rule
    )
