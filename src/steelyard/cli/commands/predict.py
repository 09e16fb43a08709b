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
    from steelyard.scoring.file_scores import FileScores
    from steelyard.scoring.score_columns import ScoreColumn

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
    from steelyard.cli import scoring
    from steelyard.cli.common import check_outputs
    from steelyard.io import sources
    from steelyard.scoring.answers import TextAnswers, tagged
    from steelyard.scoring.score_columns import table_columns
    from steelyard.scoring.table_files import holds_tables

    with options.errors():
        _check_combination(output, kind, top, output_format, line_by_line=line_by_line)
        paths = sources.expand(files)
        check_outputs([output], [model, *paths], force=given["force"])
        loaded = scoring.load(model, given["loss"], given["text"])
        prompt = streaming.is_prompt(paths, output)
        into_table = output is not None and holds_tables(output) and not line_by_line
        if into_table or output_format is not None:
            columns = table_columns(loaded.meaning, kind, top)
            with sources.live(prompt):
                scored = scoring.score_files(loaded, paths, given, one_table=True, prompt=prompt)
                _write_table(scored, columns, output, output_format)
        else:
            answers = TextAnswers(loaded.meaning, kind or "raw", top)
            with sources.live(prompt), _opened(output) as out:
                if line_by_line:
                    for answer in streaming.answer_lines(loaded, answers, paths, given["encoding"]):
                        _write(out, answer)
                    return
                scored = scoring.score_files(loaded, paths, given, prompt=prompt)
                for block in scored:
                    if len(block):
                        lines = tagged(answers(block.scores), block.parsed.tag_texts())
                        _write(out, b"\n".join(lines) + b"\n")
    scoring.tell_skipped(scored.stream)
    if scored.stream.skipped:
        click.echo(
            f"no prediction for {counted(scored.stream.skipped, 'line')} that could not be read", err=True
        )


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


def _write_table(
    scored: "FileScores", columns: "list[ScoreColumn]", output: Path | None, kind: str | None
) -> None:
    """The table with the columns added, as a file or on standard output."""
    from steelyard.scoring.predicted_table import PredictedTable
    from steelyard.scoring.table_files import open_table, text_table

    table = PredictedTable(scored, columns)
    if table.renamed:
        tell(f"note: the table already has columns of that name; the new ones are {', '.join(table.renamed)}")
    if output is not None:
        with open_table(output, table.rows, table.added, table.numeric) as file:
            table.copy(file)
        return
    assert kind is not None
    with _opened(None) as out:
        table.copy(text_table(partial(_write, out), kind, table.rows, table.added))


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
