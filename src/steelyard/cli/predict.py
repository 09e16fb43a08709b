"""`steelyard predict`: one prediction a line, in the order of the rows."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from steelyard import _atomic_files as written
from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.option_types import Choice

_KINDS = ("raw", "probability", "label")


@click.command(epilog=options.EXAMPLES["predict"])
@options.MODEL
@options.FILES
@click.option(
    "-o", "--output", type=options.FILE_PATH, metavar="FILE",
    help="Where to write the predictions.  [default: standard output]",
)  # fmt: skip
@click.option(
    "--as", "kind", type=Choice(_KINDS), default="raw", show_default=True,
    help="The raw prediction w·x, the probability of the positive class, or the label. With more than two "
    "classes, raw predictions and probabilities are printed for each class, in the order that inspect shows.",
)  # fmt: skip
@options.ENCODING
@options.OWN_LOSS
@options.THREADS
@options.ON_ERROR
def command(model: Path, files: tuple[str, ...], output: Path | None, kind: str, **given: Any) -> None:
    """Predict the rows of files, one line for each.

    A row's tag follows its prediction, if it has one. The files are read in the same way as those that the
    model was trained on. Labels are not needed.
    """
    from steelyard.cli import scoring
    from steelyard.cli.common import check_outputs
    from steelyard.io import sources

    with options.errors():
        paths = sources.expand(files)
        check_outputs([output], [model, *paths])
        loaded = scoring.load(model, given["loss"])
        convert = scoring.PredictionText(loaded, kind)
        _, stream = loaded.score(paths, given)
        with _opened(output) as out:
            for parsed in stream:
                texts = convert(scoring.predictions_of(parsed))
                tags = scoring.tags(parsed)
                lines = [text + (b" " + tag if tag else b"") for text, tag in zip(texts, tags, strict=True)]
                if lines:
                    _write(out, b"\n".join(lines) + b"\n")
    scoring.tell_skipped(stream)
    if stream.skipped:
        click.echo(f"no prediction for {counted(stream.skipped, 'line')} that could not be read", err=True)


def _write(out: BinaryIO, text: bytes) -> None:
    """All of it: an unbuffered output (PYTHONUNBUFFERED) may take a part only."""
    rest = memoryview(text)
    while rest:
        rest = rest[out.write(rest) :]


@contextlib.contextmanager
def _opened(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with written.replacing(output) as temporary, temporary.open("wb") as file:
        yield file
