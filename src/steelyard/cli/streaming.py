"""Predictions for those who wait for them: each line of a pipe is answered as it comes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard._parameters import Message
from steelyard.cli.common import tell
from steelyard.io import sources
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.cli.scoring import PredictionText
    from steelyard.engine.loaded_model import LoadedModel
    from steelyard.io.absent_columns import AbsentColumns
    from steelyard.io.input_spec import InputSpec

STREAM = click.option(
    "--stream", "line_by_line", is_flag=True,
    help="Answer every line with exactly one line: a blank line, or one that cannot be read or has none of "
    "the model's columns, with a blank line (and the reason on standard error). "
    "Lines of a pipe are answered as they arrive in any case.",
)  # fmt: skip


def is_prompt(paths: Sequence[str], output: Path | None) -> bool:
    """Whether somebody may be waiting for each line: input from a pipe or a terminal, output to one."""
    return output is None and any(map(sources.once_only, paths))


def answer_lines(
    model: "LoadedModel", convert: "PredictionText", paths: Sequence[str], encoding: str | None = None
) -> Iterator[bytes]:
    """The answers to the lines that are there, each time some are."""
    from steelyard.cli import scoring
    from steelyard.engine.file_predictions import predict_lines
    from steelyard.io.absent_columns import AbsentColumns
    from steelyard.io.blocks import LineReader, usual_size

    spec = _spec_of(model, paths, encoding)
    reader = spec.reader()
    if not isinstance(reader, LineReader):
        raise InputError(
            "--stream is for formats with a row on each line (jsonl, svmlight, vw), and this is "
            f"{spec.format}; the lines of a pipe are answered as they arrive without --stream, too"
        )
    columns = AbsentColumns(spec, tell)
    for path in paths:
        number = 0
        with sources.open_source(path, spec.encoding) as source:
            for block in reader.blocks(source, usual_size(1)):
                found = predict_lines(reader, model.engine, block)
                texts = scoring.tagged(convert(found.predictions), scoring.tags(found.parsed))
                answers: list[bytes] = []
                for line, row in zip(found.lines, found.rows, strict=True):
                    wrong = _check(columns, line) if isinstance(row, int) else row
                    if wrong is not None:
                        tell(Message(f"{source.path}, line {number + len(answers) + 1}: ", wrong))
                    answers.append(texts[row] if isinstance(row, int) and wrong is None else b"")
                number += len(answers)
                yield b"\n".join(answers) + b"\n"
    columns.finish()


def _check(columns: "AbsentColumns", line: bytes) -> str | None:
    """What is wrong with a line if it has none of the columns; those that lack some are counted."""
    absent = columns.of(line)
    wrong = columns.has_none(absent)
    if wrong is None:
        columns.add(absent)
    return wrong


def _spec_of(model: "LoadedModel", paths: Sequence[str], encoding: str | None) -> "InputSpec":
    """How lines are read. Of a table only JSON has rows on lines: the first line decides, since later ones
    may not have come yet, and a bad one is an error of its own.
    """
    from steelyard.cli import scoring
    from steelyard.engine import file_predictions
    from steelyard.io.transcoding import check_encoding

    own = model.spec()
    used = own.encoding if encoding is None else check_encoding(encoding)
    if own.columns is not None and all(_begins_as_json(path, used) for path in paths):
        return replace(scoring.spec_of_lines(model), encoding=used)
    return file_predictions.accept_any_labels(scoring.read_spec(model, paths, encoding=encoding))


def _begins_as_json(path: str, encoding: str | None) -> bool:
    from steelyard.io import formats

    with formats.open_head(path, encoding) as head:
        return (head.lines or [b"{"])[0].lstrip().startswith(b"{")
