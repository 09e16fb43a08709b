"""Predictions for those who wait for them: each line of a pipe is answered as it comes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard._parameters import Message, message_of
from steelyard.cli.common import tell
from steelyard.io import sources
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.io.input_spec import InputSpec
    from steelyard.scoring.answers import TextAnswers
    from steelyard.scoring.loaded_model import LoadedModel

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
    model: "LoadedModel", answers: "TextAnswers", paths: Sequence[str], encoding: str | None = None
) -> Iterator[bytes]:
    """The answers to the lines that are there, each time some are."""
    from steelyard.io.blocks import usual_size
    from steelyard.scoring.answers import tagged
    from steelyard.scoring.line_scores import LineScores

    spec = _spec_of(model, paths, encoding)
    try:
        scores = LineScores(model, spec, tell)
    except InputError as error:
        raise InputError(
            "--stream: ", message_of(error), "; the lines of a pipe are answered as they arrive without --stream, too",
        ) from None  # fmt: skip
    for path in paths:
        number = 0
        with sources.open_source(path, spec.encoding) as source:
            for block in scores.lines.blocks(source, usual_size(1)):
                scored = scores.score(block)
                texts = tagged(answers(scored.scores), scored.parsed.tag_texts())
                written: list[bytes] = []
                for line in scored.lines:
                    if line.problem is not None:
                        tell(Message(f"{source.path}, line {number + len(written) + 1}: ", line.problem))
                    if line.row is None or line.problem is not None:
                        written.append(b"")
                    else:
                        scores.absent.add(line.missing)
                        written.append(texts[line.row])
                number += len(written)
                yield b"\n".join(written) + b"\n"
    scores.absent.finish()


def _spec_of(model: "LoadedModel", paths: Sequence[str], encoding: str | None) -> "InputSpec":
    """How lines are read. Of a table only JSON has rows on lines: the first line decides, since later ones
    may not have come yet, and a bad one is an error of its own.
    """
    from steelyard.scoring.matching import match_files, spec_of_lines, with_encoding
    from steelyard.scoring.predicting import accept_any_labels

    own = with_encoding(model.spec(), encoding)
    if own.columns is not None and all(_begins_as_json(path, own.encoding) for path in paths):
        return accept_any_labels(spec_of_lines(own, model.name))
    return accept_any_labels(match_files(own, paths, model.name)[0])


def _begins_as_json(path: str, encoding: str | None) -> bool:
    from steelyard.io import formats

    with formats.open_head(path, encoding) as head:
        return (head.lines or [b"{"])[0].lstrip().startswith(b"{")
