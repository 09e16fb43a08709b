"""`LineScores`: lines that each get an answer, for programs that wait for it: those of a pipe, or of a request."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from steelyard.io.blocks import Block, LineReader, ParsedBlock, find_bad_lines
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.scoring.absent_columns import AbsentColumns
from steelyard.scoring.file_scores import ScoringModel
from steelyard.scoring.predicting import PredictingReader
from steelyard.scoring.scores import Scores


@dataclass(frozen=True)
class ScoredLine:
    """A line of a block: the number of its row, or why it has none; neither if it is blank."""

    row: int | None = None
    problem: str | None = None
    missing: tuple[str, ...] = ()
    """Columns of the model that the row lacks."""


@dataclass(frozen=True)
class ScoredLines:
    """All lines of a block, and the scores of its rows."""

    parsed: ParsedBlock
    scores: Scores
    lines: list[ScoredLine]


class LineScores:
    """Scores blocks of lines that are read by `spec`."""

    def __init__(self, model: ScoringModel, spec: InputSpec, tell: Callable[[str], None]) -> None:
        reader = spec.reader()
        if not isinstance(reader, LineReader):
            raise InputError(f"{spec.format} has no row on each line, as jsonl, svmlight and vw have")
        self.lines = reader
        self.absent = AbsentColumns(spec, tell)
        self._reader, self._meaning = PredictingReader(reader, model.engine), model.meaning

    def score(self, block: Block) -> ScoredLines:
        """The scores of a block, line by line."""
        parsed = self._reader.parse(block)
        assert parsed.predictions is not None
        return ScoredLines(parsed, self._meaning.of(parsed.predictions), list(self._lines(parsed)))

    def _lines(self, parsed: ParsedBlock) -> Iterator[ScoredLine]:
        texts = parsed.block.text.tobytes().split(b"\n")[:-1]
        problems: dict[int, str] = {}
        some_have_none = len(parsed.examples) < len(texts)
        if some_have_none:
            problems = find_bad_lines(self._reader.reader.parse, parsed)
        rows = iter(range(len(parsed.examples)))
        for number, text in enumerate(texts):
            if number in problems:
                yield ScoredLine(problem=problems[number])
            elif some_have_none and self.lines.is_blank(text):
                yield ScoredLine()
            else:
                row, missing = next(rows), self.absent.of(text)
                yield ScoredLine(row, self.absent.problem_of(missing), tuple(missing))
