"""`steelyard explain`: what each prediction is made of."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard.cli import options


@click.command(epilog=options.EXAMPLES["explain"])
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@options.FILES
@click.option(
    "--top", type=click.IntRange(1), default=5, show_default=True, help="Contributions to list for a row."
)
@click.option(
    "--rows", type=click.IntRange(1), default=10, show_default=True, help="Rows to explain, from the first."
)
@options.OWN_LOSS
@options.THREADS
@options.ON_ERROR
@options.JSON
def command(model: Path, files: tuple[str, ...], top: int, rows: int, as_json: bool, **given: Any) -> None:
    """Show what each prediction is made of, by name.

    The largest contributions to MODEL's prediction of each of the first rows of FILEs. A contribution is
    weight × value; all of them, the bias and the row's base add up to the prediction.
    """
    for row in run(model, files, top, rows, given):
        _show(row, as_json=as_json)


def run(
    model: Path, files: tuple[str, ...], top: int, rows: int, given: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Each row's prediction, and what it is made of."""
    from steelyard.cli import scoring
    from steelyard.cli.raw_labels import OwnLabels

    with options.errors():
        kept = scoring.loaded(model, given)
        weights = kept.model.coefficients()
        names = kept.names.by_index() if kept.names is not None else {}
        row = 0
        reading = scoring.whatever_labels(scoring.read(kept, files, given))
        labels = OwnLabels(reading)
        for parsed in scoring.predicted(kept, reading, files, given, labelled=False):
            examples, predictions, own = parsed.examples, scoring.of(parsed), labels.of(parsed)
            for k, tag in enumerate(scoring.tags(parsed)):
                if row == rows:
                    return
                row += 1
                span = slice(int(examples.indptr[k]), int(examples.indptr[k + 1]))
                indices, values = examples.indices[span], examples.values[span]
                parts = weights[indices].astype(np.float64) * values
                chosen = np.argsort(-np.abs(parts), kind="stable")[:top]
                yield {
                    "row": row,
                    "tag": tag.decode("utf-8", "replace"),
                    "label": own[k],
                    "prediction": float(predictions[k]),
                    "bias": kept.model.bias,
                    "base": 0.0 if examples.offsets is None else float(examples.offsets[k]),
                    "contributions": [
                        {
                            "feature": names.get(int(indices[c]), f"#{indices[c]}"),
                            "value": float(values[c]),
                            "weight": float(weights[indices[c]]),
                            "contribution": float(parts[c]),
                        }
                        for c in chosen.tolist()
                    ],
                }


def _short(label: str | float) -> str:
    return label if isinstance(label, str) else f"{label:g}"


def _show(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(row))
        return
    label = "" if row["label"] is None else f", label {_short(row['label'])}"
    tag = f" {row['tag']}" if row["tag"] else ""
    base = f", base {row['base']:.6f}" if row["base"] else ""
    click.echo(
        f"row {row['row']}{tag}: prediction {row['prediction']:.6f}{label} (bias {row['bias']:.6f}{base})"
    )
    for part in row["contributions"]:
        click.echo(
            f"  {part['contribution']:>+12.6f} = {part['weight']:.6f} × {part['value']:g}  {part['feature']}"
        )
