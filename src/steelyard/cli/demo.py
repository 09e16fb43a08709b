"""`steelyard demo`: the whole job on text that every Python has, its docstrings, and a report of it."""

import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import click

from steelyard import _atomic_files
from steelyard.cli import options

DEFAULT_OUTPUT = Path("steelyard-demo")


@click.command
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    default=DEFAULT_OUTPUT, show_default=True, help="Where to write the data, the model and the report.",
)  # fmt: skip
@click.option(
    "--package", metavar="NAME",
    help="The installed package to tell from all others.  [default: sklearn, or the largest]",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the choice and order.")
def command(output: Path, package: str | None, seed: int) -> None:
    """Learn which package a docstring comes from, weigh some 50 times, write a report.

    The docstrings are those of the packages installed beside this one, read and not imported. They
    are learned as `steelyard train` would; the commands are printed. The report is one HTML page;
    its plots need matplotlib.
    """
    from steelyard.cli.demonstration import findings, page, telling

    with options.errors():
        teller = telling.Teller()
        with telling.doing("collecting docstrings"):
            folder, question = findings.collect(output, package, seed)
        telling.the_question(teller, question)
        teller.title("Learning, as one would type it")
        teller.commands([folder.train()])
        teller.lines([""])
        table = teller.width >= telling.WIDTH_OF_THE_TABLE
        telling.note("(starting; the first time it compiles, which takes a minute)")
        progress, summary = findings.learn(folder, table=table)
        if not table:
            teller.lines(telling.narrow_table(progress.averages()))
        with telling.doing("weighing docstrings"):
            found = findings.examine(folder, question, progress, summary, seed)
        telling.the_learning(teller, found)
        telling.the_weights(teller, found)
        plots = {}
        with telling.doing("drawing"):
            if find_spec("matplotlib") is not None:
                from steelyard.cli.demonstration import plots as drawing

                plots = drawing.drawn(found)
            with _atomic_files.replacing(folder.report) as temporary:
                temporary.write_text(page.written(found, plots), encoding="utf-8")
        teller.title("The same by hand")
        teller.commands([*folder.main_commands(), *folder.heavy_commands()])
        if not plots:
            teller.say('\nThe plots of the report need matplotlib: pip install "steelyard[plot]"')
        click.echo(f"\nThe report, a page for your browser: {folder.report}")
        if which("steelyard") is None:
            click.echo(f"To type the commands above, first: source {Path(sys.prefix) / 'bin' / 'activate'}")
