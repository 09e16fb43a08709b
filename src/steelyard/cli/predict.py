"""`steelyard predict`: one prediction a line, in the order of the rows; or the table with columns added."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from steelyard import _atomic_files as written
from steelyard._messages import counted
from steelyard.cli import options, streaming, terminal
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice

if TYPE_CHECKING:
    from steelyard.engine.loaded_model import LoadedModel
    from steelyard.io.stream import Stream

_KINDS = ("raw", "probability", "label")


@click.command(epilog=EXAMPLES["predict"])
@options.MODEL
@options.FILES
@click.option(
    "-o", "--output", type=options.FILE_PATH, metavar="FILE",
    help="Where to write the predictions. With .csv, .tsv, .jsonl, .parquet, .arrow or .xlsx, the table is "
    "written with predictions added as columns; otherwise a line for each row.  [default: standard output]",
)  # fmt: skip
@options.FORCE
@click.option(
    "--as", "kind", type=Choice(_KINDS),
    help="The raw prediction w·x, the probability of the positive class, or the label. With more than two "
    "classes, there is a raw prediction or a probability for each class, in the order that inspect shows.  "
    "[default: raw; in a table, the label and its probability]",
)  # fmt: skip
@streaming.STREAM
@options.ENCODING
@options.OWN_LOSS
@options.THREADS
@options.ON_ERROR
def command(
    model: Path,
    files: tuple[str, ...],
    output: Path | None,
    kind: str | None,
    *,
    line_by_line: bool,
    **given: Any,
) -> None:
    """Predict the rows of files, one line for each, or a table with predictions added.

    A row's tag follows its prediction, if it has one. The files are read in the same way as those that the
    model was trained on. Labels are not needed. Lines of a pipe are answered as they come.

    In a table all columns and rows stay as they are. New are prediction, the label or number; of two
    classes also probability_NAME, of the second class; of more, probability, of the predicted one. With
    --on-error skip, rows that cannot be read have no prediction.
    """
    from steelyard.cli import prediction_table, scoring
    from steelyard.cli.common import check_outputs
    from steelyard.io import sources
    from steelyard.io.table_writers import writes_tables

    with options.errors():
        paths = sources.expand(files)
        check_outputs([output], [model, *paths], force=given["force"])
        loaded = scoring.load(model, given["loss"])
        if line_by_line:
            _write_answers(output, loaded, kind or "raw", paths)
            return
        if output is not None and writes_tables(output):
            stream = prediction_table.write(output, loaded, kind, paths, given)
        else:
            stream = _write_lines(output, loaded, kind or "raw", paths, given)
    scoring.tell_skipped(stream)
    if stream.skipped:
        click.echo(f"no prediction for {counted(stream.skipped, 'line')} that could not be read", err=True)


def _write_answers(output: Path | None, loaded: "LoadedModel", kind: str, paths: list[str]) -> None:
    """Exactly one line for each line, as they come."""
    from steelyard.cli import scoring
    from steelyard.io import sources

    convert = scoring.PredictionText(loaded, kind)
    with sources.live(streaming.is_prompt(paths, output)), _opened(output) as out:
        for answer in streaming.answer_lines(loaded, convert, paths):
            _write(out, answer)


def _write_lines(
    output: Path | None, loaded: "LoadedModel", kind: str, paths: list[str], given: dict[str, Any]
) -> "Stream":
    """One prediction a line, each with the row's tag."""
    from steelyard.cli import scoring
    from steelyard.io import sources

    convert = scoring.PredictionText(loaded, kind)
    prompt = streaming.is_prompt(paths, output)
    with sources.live(prompt), _opened(output) as out:
        _, stream = scoring.score(loaded, paths, given | {"prompt": prompt})
        for parsed in stream:
            lines = scoring.tagged(convert(scoring.predictions_of(parsed)), scoring.tags(parsed))
            if lines:
                _write(out, b"\n".join(lines) + b"\n")
    return stream


def _write(out: BinaryIO, text: bytes) -> None:
    """All of it: an unbuffered output (PYTHONUNBUFFERED) may take a part only."""
    rest = memoryview(terminal.visible_bytes(text) if out.isatty() else text)
    while rest:
        rest = rest[out.write(rest) :]
    out.flush()  # somebody may be waiting for it


@contextlib.contextmanager
def _opened(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with written.replacing(output) as temporary, temporary.open("wb") as file:
        yield file
