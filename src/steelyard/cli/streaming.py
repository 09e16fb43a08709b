"""Predictions for those who wait for them: each line of a pipe is answered as it comes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.io import sources
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.cli.scoring import PredictionText
    from steelyard.engine.loaded_model import LoadedModel

STREAM = click.option(
    "--stream", "line_by_line", is_flag=True,
    help="Answer every line with exactly one line: a blank line, or one that cannot be read, with a blank "
    "line (and the reason on standard error). Lines of a pipe are answered as they arrive in any case.",
)  # fmt: skip


def is_prompt(paths: Sequence[str], output: Path | None) -> bool:
    """Whether somebody may be waiting for each line: input from a pipe or a terminal, output to one."""
    return output is None and any(map(sources.once_only, paths))


def answer_lines(model: "LoadedModel", convert: "PredictionText", paths: Sequence[str]) -> Iterator[bytes]:
    """The answers to the lines that are there, each time some are."""
    from steelyard.cli import scoring
    from steelyard.engine import file_predictions
    from steelyard.engine.line_predictions import predict_lines
    from steelyard.io.blocks import LineReader, usual_size

    spec = file_predictions.accept_any_labels(scoring.read_spec(model, paths))
    reader = spec.reader()
    if not isinstance(reader, LineReader):
        raise InputError(
            "--stream is for formats with a row on each line (jsonl, svmlight, vw), and this is "
            f"{spec.format}; the lines of a pipe are answered as they arrive without --stream, too"
        )
    for path in paths:
        number = 0
        with sources.open_source(path, spec.encoding) as source:
            for block in reader.blocks(source, usual_size(1)):
                lines: list[bytes] = []
                for part in predict_lines(reader, model.engine, block):
                    if part.parsed is None or part.predictions is None:
                        if part.error is not None:
                            click.echo(
                                f"{source.path}, line {number + len(lines) + 1}: {part.error}", err=True
                            )
                        lines.append(b"")
                        continue
                    lines += scoring.tagged(convert(part.predictions), scoring.tags(part.parsed))
                number += len(lines)
                yield b"\n".join(lines) + b"\n"
