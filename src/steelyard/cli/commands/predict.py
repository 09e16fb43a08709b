"""`steelyard predict`: one prediction a line, in the order of the rows; or the table with columns added."""

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from steelyard import _atomic_files as written
from steelyard._messages import counted
from steelyard.cli import options, streaming, terminal
from steelyard.cli.common import tell
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.cli.scoring import PredictionText
    from steelyard.engine.loaded_model import LoadedModel
    from steelyard.io.stream import Stream

_KINDS = ("raw", "probability", "label")
_TABLES = ("csv", "tsv", "jsonl")  # on standard output


@click.command(epilog=EXAMPLES["predict"])
@options.MODEL
@options.FILES
@click.option(
    "-o", "--output", type=options.FILE_PATH, metavar="FILE",
    help="Where to write the predictions. If it ends in .csv, .tsv, .jsonl, .parquet, .arrow or .xlsx, the "
    "table is written with predictions added as columns; otherwise a line for each row.  [default: standard "
    "output]",
)  # fmt: skip
@options.FORCE
@click.option(
    "--as", "kind", type=Choice(_KINDS),
    help="The raw prediction w·x, the probability of the positive class, or the label. With more than two "
    "classes, there is a raw prediction or a probability for each class, in the order that inspect shows.  "
    "[default: raw; in a table, the label and its probability]",
)  # fmt: skip
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="K",
    help="The K most probable classes, each with its probability: as NAME:PROBABILITY on a line, best first, "
    "or in a table as the columns prediction, probability, prediction_2, probability_2, …",
)
@click.option(
    "--output-format", type=Choice(_TABLES),
    help="Write the table with predictions added to standard output, in this format. (With -o, the suffix of "
    "the file decides.)",
)  # fmt: skip
@streaming.STREAM
@options.SCORING
def command(
    model: Path,
    files: tuple[str, ...],
    output: Path | None,
    kind: str | None,
    top: int | None,
    output_format: str | None,
    *,
    line_by_line: bool,
    **given: Any,
) -> None:
    """Predict the rows of files, one line for each, or a table with predictions added.

    A row's tag follows its prediction, if it has one. The files are read in the same way as those that the
    model was trained on. Labels are not needed. Lines of a pipe are answered as they arrive.

    A table keeps all its columns and rows, and gets new columns: prediction, the label or number; for two
    classes also probability_NAME, of the second class; for more classes probability, of the predicted one.
    With --on-error skip, rows that cannot be read have no prediction.
    """
    from steelyard.cli import prediction_table, scoring
    from steelyard.cli.common import check_outputs
    from steelyard.cli.prediction_columns import AddedColumns
    from steelyard.io import sources
    from steelyard.io.table_writers import writes_tables

    with options.errors():
        _check_combination(output, kind, top, output_format, line_by_line=line_by_line)
        paths = sources.expand(files)
        check_outputs([output], [model, *paths], force=given["force"])
        loaded = scoring.load(model, given["loss"], given["text"])
        if output_format is not None:
            given["prompt"] = streaming.is_prompt(paths, output)
            added = AddedColumns(loaded, kind, top)
            with sources.live(given["prompt"]), _opened(None) as out:
                write = partial(_write, out)
                stream = prediction_table.write_text(write, output_format, loaded, added, paths, given)
        elif output is not None and writes_tables(output) and not line_by_line:
            stream = prediction_table.write(output, loaded, AddedColumns(loaded, kind, top), paths, given)
        else:
            convert = scoring.PredictionText(loaded, kind or "raw", top)
            if line_by_line:
                _write_answers(output, loaded, convert, paths, given["encoding"])
                return
            stream = _write_lines(output, loaded, convert, paths, given)
    scoring.tell_skipped(stream)
    if stream.skipped:
        click.echo(f"no prediction for {counted(stream.skipped, 'line')} that could not be read", err=True)


def _check_combination(
    output: Path | None, kind: str | None, top: int | None, output_format: str | None, *, line_by_line: bool
) -> None:
    if top is not None and kind is not None:
        raise InputError("--top shows classes with their probabilities: leave out --as")
    if output_format is not None and (output is not None or line_by_line):
        raise InputError(
            "--output-format is for a table on standard output: leave out -o, whose suffix says the format, "
            "and --stream"
        )
    if output is not None and output.suffix.lower() == ".xls":  # plain lines in it would not open
        raise InputError(f"{output}: the format of old Excel files is not written; name it .xlsx")


def _write_answers(
    output: Path | None,
    loaded: "LoadedModel",
    convert: "PredictionText",
    paths: list[str],
    encoding: str | None,
) -> None:
    """Exactly one line for each line, as they come."""
    from steelyard.io import sources

    with sources.live(streaming.is_prompt(paths, output)), _opened(output) as out:
        for answer in streaming.answer_lines(loaded, convert, paths, encoding):
            _write(out, answer)


def _write_lines(
    output: Path | None,
    loaded: "LoadedModel",
    convert: "PredictionText",
    paths: list[str],
    given: dict[str, Any],
) -> "Stream":
    """One prediction a line, each with the row's tag."""
    from steelyard.cli import scoring
    from steelyard.io import sources
    from steelyard.io.absent_columns import AbsentColumns

    prompt = streaming.is_prompt(paths, output)
    with sources.live(prompt), _opened(output) as out:
        spec, stream = scoring.score(loaded, paths, given | {"prompt": prompt})
        for parsed in AbsentColumns(spec, tell).watch(stream):
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
