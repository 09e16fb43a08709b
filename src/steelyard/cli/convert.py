"""`steelyard convert`: any format to ready-made sparse rows, which are read again much faster."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.choices import Choice
from steelyard.model import DTYPES


@click.command(epilog=options.EXAMPLES["convert"])
@options.FILES
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
    help="Where to write: .arrow, which is mapped into memory when read, or .parquet, which is smaller.",
)  # fmt: skip
@options.READING
@click.option(
    "--dtype",
    type=Choice(DTYPES),
    default="float32",
    show_default=True,
    help="Of the values.",
)
@options.THREADS
@options.ON_ERROR
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], output: Path, **given: Any) -> None:
    """Write files of any format as ready-made rows, which are read again much faster.

    They are the rows of FILEs as a model takes them: hashed, crossed, tokenised.
    Training from the result gives the same model, bit for bit, without parsing anything again.
    """
    from steelyard.cli import outputs, preparing, unused_interactions
    from steelyard.features.names import Names
    from steelyard.io import convert, sources
    from steelyard.io.stream import Stream

    with options.errors():
        paths = sources.expand(files)
        outputs.check([output], paths)
        reading, labels = preparing.looked_at(ctx, paths, given)
        reading = replace(reading, label_rule=preparing.rule_of_names(given, labels, paths[0]))
        names = Names(reading.features) if given["names"] else None
        stream = Stream(
            paths, reading.reader(names), names=names, label_rule=reading.label_rule,
            propensities=reading.propensities, weight_factor=reading.weight_factor,
            threads=preparing.threads(given["threads"]),
            skip=given["on_error"] == "skip",
        )  # fmt: skip
        began = time.perf_counter()
        rows = convert.convert(
            stream, output, features=reading.features, names=names, reading=reading.as_json()
        )
    seconds = time.perf_counter() - began
    size = output.stat().st_size / 1e6
    click.echo(f"{counted(rows, 'row')} in {output}, {size:,.1f} MB, {seconds:.1f} s")
    remarks = [*sorted(stream.remarks), *unused_interactions.in_vain(stream, names)]
    for line in [f"skipped: {problem}" for problem in stream.problems] + remarks:
        click.echo(line, err=True)
    if stream.skipped:
        click.echo(f"skipped {counted(stream.skipped, 'line')} that could not be read", err=True)
