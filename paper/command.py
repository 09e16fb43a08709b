"""The command line: which studies to run, how much of them, and where to write."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from paper import data, report
from paper.folder import lock_folder
from paper.running import run
from paper.store import Store
from paper.study import Scope, Study

_GO_ON = "finished steps are kept, and the same command continues from there"


def command(everything: Sequence[Study]) -> click.Command:
    """The command for these studies, in this order."""

    @click.command()
    @click.option(
        "--quick", is_flag=True, help="Take a few minutes: fewer shuffles and settings, but every claim."
    )
    @click.option(
        "--only",
        multiple=True,
        type=click.Choice([study.name for study in everything]),
        help="Run only this study; may be repeated.",
    )
    @click.option(
        "--output",
        type=click.Path(path_type=Path, file_okay=False),
        help="The folder for the report.  [default: paper-report, or paper-report-quick]",
    )
    def main(quick: bool, only: tuple[str, ...], output: Path | None) -> None:
        """Run the paper's experiments and write a report. An interrupted run continues from the last step."""
        folder = output or Path("paper-report-quick" if quick else "paper-report")
        studies = [study for study in everything if not only or study.name in only]
        left_out = [study.title for study in everything if study not in studies]
        with _report_errors(), lock_folder(folder, Scope(quick)):
            page = _run_and_report(folder, studies, left_out, Scope(quick))
        click.echo(f"the report is {page}")

    return main


def _run_and_report(folder: Path, studies: Sequence[Study], left_out: Sequence[str], scope: Scope) -> Path:
    data.keep_in(folder / "prepared")
    store = Store(folder)
    tables = run(studies, store, scope, Console(stderr=True))
    return report.write(
        report.Run(
            store=store,
            studies=studies,
            steps={study.name: study.steps(scope) for study in studies},
            tables=tables,
            parts={study.name: study.part(tables, scope) for study in studies},
            scope=scope,
            left_out=left_out,
            command=shlex.join(["python", "-m", "paper", *sys.argv[1:]]),
            when=datetime.now(UTC),
        )
    )


@contextmanager
def _report_errors() -> Iterator[None]:
    """Report in one line what stopped the run, such as a full disk or the user; bugs keep their traceback."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted; {_GO_ON}", err=True)
        raise SystemExit(130) from None
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise click.ClickException(f"{what}; {_GO_ON}") from error
