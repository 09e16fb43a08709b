"""`steelyard demo`: the whole job on text that every Python has, its docstrings, and a report of it."""

import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from shutil import which
from typing import Any

import click

from steelyard import plotting
from steelyard.cli import main, options

DEFAULT_OUTPUT = Path("steelyard-demo")


@click.command
@click.option(
    "-o", "--output", type=options.FOLDER_PATH, metavar="FOLDER",
    default=DEFAULT_OUTPUT, show_default=True, help="Where to write the data, the model and the report.",
)  # fmt: skip
@click.option(
    "--package", metavar="NAME", default="sklearn", show_default=True,
    help="The installed package to tell from all others.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Random seed.")
def command(output: Path, package: str, seed: int) -> None:
    """Learn which package a docstring comes from, with weights of 50, and write a report.

    The docstrings are those of the packages installed beside this one; their files are read, not imported.
    They are learned with `steelyard train`, and all commands are printed. The report is one HTML page; its
    plots need matplotlib.
    """
    from steelyard.demo import experiment, report

    with options.errors():
        with report.show_status("collecting docstrings"):
            folder, docstrings = experiment.prepare(output, package, seed)
        report.print_text("question.txt.j2", docstrings=docstrings)
        main_commands = [experiment.format_command(each) for each in folder.main_commands()]
        click.echo(main_commands[0])
        with report.show_status("learning (the first time it compiles, which takes a minute)"):
            findings = experiment.run_experiment(folder, docstrings, _run, seed)
        report.print_text("findings.txt.j2", findings=findings)
        with report.show_status("drawing"):
            report.write_page(findings)
        click.secho("\nThe same by hand", bold=True)
        weighted_commands = [experiment.format_command(each) for each in folder.weighted_commands()]
        click.echo("\n".join([*main_commands, *weighted_commands]))
        if not plotting.is_available():
            click.echo('\nThe plots of the report need matplotlib: pip install "steelyard[plot]"')
        click.echo(f"\nThe report, a page for your browser: {folder.file(experiment.REPORT)}")
        if which("steelyard") is None:
            click.echo(f"To type the commands above, first: source {Path(sys.prefix) / 'bin' / 'activate'}")


def _run(words: list[str]) -> dict[str, Any]:
    """Run another command in this process; returns what it reports with --json."""
    with redirect_stdout(io.StringIO()) as printed:
        main.main([*words, "--json"], prog_name="steelyard", standalone_mode=False)
    reported: dict[str, Any] = json.loads(printed.getvalue())
    return reported
