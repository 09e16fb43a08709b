"""`steelyard evaluate`: how good a model is on labelled files."""

import json
from pathlib import Path
from typing import Any

import click

from steelyard.cli import options


@click.command(epilog=options.EXAMPLES["evaluate"])
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@options.FILES
@options.LABELS
@options.OWN_LOSS
@options.THREADS
@options.ON_ERROR
@options.JSON
def command(model: Path, files: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Compare predictions with labels: loss, accuracy, AUC, calibration.

    Everything is weighted by importance: a row of weight h counts as h rows.
    """
    from steelyard.cli.metrics import Metrics

    result = run(model, files, given)
    click.echo(json.dumps(result) if as_json else Metrics.text(result))


def run(model: Path, files: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The figures."""
    from steelyard.cli import scoring
    from steelyard.cli.metrics import Metrics

    with options.errors():
        kept = scoring.loaded(model, given)
        metrics = Metrics(kept.model)
        reading = scoring.read(kept, files, given)
        stream = scoring.predicted(kept, reading, files, given, labelled=True)
        for parsed in stream:
            metrics.add(scoring.of(parsed), parsed.examples.labels, parsed.examples.sample_weight)
        if not metrics.weight:
            raise stream.empty("no row has a label and a weight, so there is nothing to compare with")
        scoring.tell_skipped(stream)
        return metrics.result() | {"skipped": stream.skipped}
