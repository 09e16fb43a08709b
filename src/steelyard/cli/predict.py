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
from steelyard.cli.choices import Choice

_KINDS = ("raw", "probability", "label")


@click.command(epilog=options.EXAMPLES["predict"])
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@options.FILES
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Where to write the predictions.  [default: standard output]",
)  # fmt: skip
@click.option(
    "--as", "kind", type=Choice(_KINDS), default="raw", show_default=True,
    help="w·x as it is, the probability of the positive class, or the label itself.",
)  # fmt: skip
@options.OWN_LOSS
@options.THREADS
@options.ON_ERROR
def command(model: Path, files: tuple[str, ...], output: Path | None, kind: str, **given: Any) -> None:
    """Predict the rows of files, one a line.

    A row's tag follows its prediction, if it has one. The files are read as those were that the model
    has learned. Labels are not needed.
    """
    from steelyard.cli import outputs, scoring
    from steelyard.cli.prediction_format import Converter
    from steelyard.io import sources

    with options.errors():
        outputs.check([output], [model, *sources.expand(files)])
        kept = scoring.loaded(model, given)
        convert = Converter(kept, kind)
        reading = scoring.whatever_labels(scoring.read(kept, files, given))
        stream = scoring.predicted(kept, reading, files, given, labelled=False)
        with _opened(output) as out:
            for parsed in stream:
                texts = convert(scoring.of(parsed))
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
