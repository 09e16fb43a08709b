"""`python -m paper`."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from paper import data, report
from paper.folder import taken
from paper.running import run
from paper.store import Store
from paper.studies import ALL
from paper.study import Scope, Study

_GO_ON = "what is finished is kept, and the same command goes on from there"


@click.command()
@click.option("--quick", is_flag=True, help="A few minutes: fewer shuffles and settings, every claim.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([study.name for study in ALL]),
    help="This study; may be repeated.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the report; `paper-report`, or `paper-report-quick`.",
)
def main(quick: bool, only: tuple[str, ...], output: Path | None) -> None:
    """Run the paper's experiments and write a report. Interrupted, it goes on from the last step."""
    folder = output or Path("paper-report-quick" if quick else "paper-report")
    command = shlex.join(["python", "-m", "paper", *sys.argv[1:]])
    studies = [study for study in ALL if not only or study.name in only]
    with _told(), taken(folder, Scope(quick)):
        page = _reported(folder, studies, Scope(quick), command)
    click.echo(f"the report is {page}")


def _reported(folder: Path, studies: list[Study], scope: Scope, command: str) -> Path:
    data.keep_in(folder / "prepared")
    store = Store(folder)
    tables = run(studies, store, scope, Console(stderr=True))
    return report.write(
        report.Run(
            store,
            studies,
            {study.name: study.steps(scope) for study in studies},
            tables,
            {study.name: study.part(tables, scope) for study in studies},
            scope,
            [study.title for study in ALL if study not in studies],
            command,
            datetime.now(UTC),
        )
    )


@contextmanager
def _told() -> Iterator[None]:
    """What stops a run, in a line: a full disk, say, or the user. A mistake of ours keeps its traceback."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted; {_GO_ON}", err=True)
        raise SystemExit(130) from None
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise click.ClickException(f"{what}; {_GO_ON}") from error


if __name__ == "__main__":
    main()
