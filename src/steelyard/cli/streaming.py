"""Predictions for those who wait for them: each line of a pipe is answered as it comes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.cli.common import tell
from steelyard.io import sources
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.cli.scoring import PredictionText
    from steelyard.engine.loaded_model import LoadedModel
    from steelyard.io.absent_columns import AbsentColumns
    from steelyard.io.blocks import ParsedBlock
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
                lines: list[bytes] = []
                for part in predict_lines(reader, model.engine, block):
                    if part.parsed is None or part.predictions is None:
                        answers: Iterable[tuple[bytes, str | None]] = [(b"", part.error)]
                    else:
                        texts = scoring.tagged(convert(part.predictions), scoring.tags(part.parsed))
                        answers = zip(texts, _check(columns, part.parsed), strict=True)
                    for answer, wrong in answers:
                        if wrong is not None:
                            click.echo(f"{source.path}, line {number + len(lines) + 1}: {wrong}", err=True)
                        lines.append(b"" if wrong else answer)
                number += len(lines)
                yield b"\n".join(lines) + b"\n"
    columns.finish()


def _check(columns: "AbsentColumns", parsed: "ParsedBlock") -> Iterator[str | None]:
    """Of each line, what is wrong if it has none of the columns; those that lack some are counted."""
    from steelyard.io.absent_columns import lines_of

    for absent in columns.of(lines_of(parsed)):
        wrong = columns.has_none(absent)
        if wrong is None:
            columns.add(absent)
        yield wrong


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
