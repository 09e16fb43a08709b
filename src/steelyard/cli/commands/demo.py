"""`steelyard demo`: the whole job on a small table that everybody understands, and a page about weights."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from shutil import which
from typing import Any

import click

from steelyard.cli import main, options

DEFAULT_OUTPUT = Path("steelyard-demo")


@click.command
@click.option(
    "-o", "--output", type=options.FOLDER_PATH, metavar="FOLDER", default=DEFAULT_OUTPUT, show_default=True,
    help="Where to write the tables, the models and the pages.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Random seed.")
def command(output: Path, seed: int) -> None:
    """Learn who survived the Titanic from a weighted sample, and write pages about it.

    The people on board are part of this package. All commands are printed, and the tables are yours to try
    others on.
    """
    from steelyard.demo import experiment, page

    with options.errors():
        passengers = experiment.prepare(output, seed)
        page.print_text("question.txt.j2", passengers=passengers)
        typed = experiment.commands(output)
        click.echo(experiment.format_command(typed[0]))
        with page.show_status("learning"):
            findings = experiment.run_experiment(output, passengers, _run)
            for words in typed:
                if words[0] in ("predict", "report"):
                    _call(words)
        page.print_text("findings.txt.j2", findings=findings)
        page.write(findings)
    click.secho("\nThe same by hand", bold=True)
    click.echo("\n".join(findings.commands))
    click.echo(
        f"\nPages for your browser: {output / experiment.PAGE} about weights, {output / experiment.REPORT}"
    )
    if which("steelyard") is None:
        click.echo(f"To type the commands above, first: source {Path(sys.prefix) / 'bin' / 'activate'}")


def _run(words: list[str]) -> dict[str, Any]:
    """Run another command in this process; returns what it reports with --json."""
    reported: dict[str, Any] = json.loads(_call([*words, "--json"]))
    return reported


def _call(words: list[str]) -> str:
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()):
        main.main(words, prog_name="steelyard", standalone_mode=False)
    return printed.getvalue()
