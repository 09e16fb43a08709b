"""`steelyard convert`: any format to a binary file of sparse rows that loads much faster."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.grouped_help import MOST_USED, GroupedCommand
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule
from steelyard.io.read_options import ReadOptions
from steelyard.settings import DTYPES


@click.command(
    cls=GroupedCommand, headings={MOST_USED: ("output", "label", "text", "force")}, epilog=EXAMPLES["convert"]
)
@options.FILES
@click.option(
    "-o", "--output", type=options.FILE_PATH, required=True, metavar="FILE",
    help="Where to write: .arrow, which is mapped into memory when read, or .parquet, which is smaller.",
)  # fmt: skip
@options.FORCE
@options.READING
@click.option(
    "--dtype", type=Choice(DTYPES), default="float32", show_default=True, help="The type of the values."
)
@options.THREADS
@options.ON_ERROR
def command(files: tuple[str, ...], output: Path, **given: Any) -> None:
    """Write files of any format as a binary file that loads much faster.

    It holds the rows of FILEs as a model takes them: hashed, crossed, tokenised.
    Training from it gives the same model, bit for bit, without parsing anything again.
    """
    from steelyard.cli import scoring
    from steelyard.cli.common import check_outputs, unused_interactions
    from steelyard.engine.file_rows import FileRows
    from steelyard.features import Names
    from steelyard.io import convert, sources

    with options.errors():
        paths = sources.expand(files)
        check_outputs([output], paths, force=given["force"])
        read = options.read_options(given)
        spec, labels = read.infer(paths, given["dtype"])
        spec = replace(spec, label_rule=_label_rule(read, paths, spec, labels))
        names = Names(spec.features) if read.names else None
        run = options.run_options(given)
        stream = FileRows(paths, spec, names=names, threads=run.usable_threads, skip=run.skip_errors).open()
        began = time.perf_counter()
        rows = convert.convert(stream, output, features=spec.features, names=names, reading=spec.as_json())
    seconds = time.perf_counter() - began
    size = output.stat().st_size / 1e6
    click.echo(f"{counted(rows, 'row')} in {output}, {size:,.1f} MB, {seconds:.1f} s")
    scoring.tell_skipped(stream)
    for line in (*sorted(stream.remarks), *unused_interactions(stream, names)):
        click.echo(line, err=True)
    if stream.skipped:
        click.echo(f"skipped {counted(stream.skipped, 'line')} that could not be read", err=True)


def _label_rule(read: ReadOptions, paths: list[str], spec: InputSpec, labels: list[str]) -> LabelRule | None:
    """The rule for labels without a loss: numbers stay, two names become −1 and 1, more 0, 1, 2, …"""
    from steelyard.engine import file_labels
    from steelyard.io import inference
    from steelyard.io.labels import is_number
    from steelyard.losses import by_name

    if read.labels is None and all(map(is_number, labels)):
        return None
    loss = by_name(inference.TWO_CLASSES)
    return file_labels.infer_labels(paths, spec, labels, loss, named=read.label_names).rule
