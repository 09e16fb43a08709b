"""`steelyard audit`: precision and recall of a filter, from labels of its sample."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.help_examples import EXAMPLES

if TYPE_CHECKING:
    from steelyard.filtering import Interval


@click.command(epilog=EXAMPLES["audit"])
@click.argument("folder", type=options.FOLDER_PATH)
@click.argument("labels", type=options.FILE_PATH, required=False)
@click.option(
    "--confidence", type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True), default=0.95,
    show_default=True, help="The probability with which both intervals hold, at any time you look.",
)  # fmt: skip
@options.JSON
def command(folder: Path, labels: Path | None, *, confidence: float, as_json: bool) -> None:
    """Estimate the precision and recall of a filter from a labelled sample.

    FOLDER is the output of a filter run with --audit. Write yes or no into the column keep of
    FOLDER/_steelyard/audit.csv, from the top: should this document be kept? Run this command after as many as
    you like; if the intervals are too wide, label more and run it again. The intervals stay valid: they hold
    at all times at once.
    """
    from steelyard.filtering import audit_filter

    with options.errors():
        found = audit_filter(folder, labels, confidence=confidence)
    if as_json:
        click.echo(json.dumps(asdict(found)))
        return
    listed = ", ".join(
        f"{found.labelled[name]:,} of {count:,} {name}" for name, count in found.documents.items()
    )
    click.echo(f"{'labelled':<22} {listed}")
    click.echo(f"{'precision':<22} {_shown(found.precision, confidence)}")
    if found.recall is not None:
        click.echo(f"{'recall':<22} {_shown(found.recall, confidence)}")


def _shown(found: "Interval", confidence: float) -> str:
    interval = f"{found.low:.3f}–{found.high:.3f}"
    return f"{found.estimate:.3f}, {confidence:.4g} interval {interval}, valid at any stopping time"
