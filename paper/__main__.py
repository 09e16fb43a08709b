"""`python -m paper`."""

from pathlib import Path

import click
from rich.console import Console

from paper import report
from paper.running import run
from paper.store import Store
from paper.studies import ALL
from paper.study import Scope

_NAMES = [study.name for study in ALL]


@click.command()
@click.option("--quick", is_flag=True, help="A few minutes: fewer shuffles and settings, every claim.")
@click.option("--only", multiple=True, type=click.Choice(_NAMES), help="This study; may be repeated.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the report; `paper-report`, or `paper-report-quick`.",
)
def main(quick: bool, only: tuple[str, ...], output: Path | None) -> None:
    """Run the paper's experiments and write a report. Interrupted, it goes on from the last step."""
    folder = output or Path("paper-report-quick" if quick else "paper-report")
    folder.mkdir(parents=True, exist_ok=True)
    console, scope = Console(stderr=True), Scope(quick)
    studies = [study for study in ALL if not only or study.name in only]
    store = Store(folder)
    tables = run(studies, store, scope, console)
    parts = {study.name: study.part(tables, scope) for study in studies}
    page = report.write(folder, studies, parts, scope)
    click.echo(f"the report is {page}")


if __name__ == "__main__":
    main()
