"""`steelyard inspect`: what is in a model file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard import losses
from steelyard.cli import options
from steelyard.cli.stored import Stored
from steelyard.cli.summary import finite
from steelyard.io.columns import Column, Columns
from steelyard.io.input_spec import InputSpec


@click.command(epilog=options.EXAMPLES["inspect"])
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, help="Features of each sign to list."
)
@options.OWN_LOSS
@options.JSON
def command(model: Path, top: int, as_json: bool, **given: Any) -> None:
    """Show a model: settings, counts, its largest weights by name."""
    from steelyard.cli import scoring

    with options.errors():
        kept = scoring.loaded(model, given)
        result = described(kept, top)
    click.echo(json.dumps(result) if as_json else _text(result))


def described(kept: Stored, top: int) -> dict[str, Any]:
    model = kept.model
    settings = asdict(model.settings) | {
        "loss": losses.name_of(model.settings.loss) or type(model.settings.loss).__name__,
        "loss_parameters": asdict(model.settings.loss),
        "learning_rate": model.settings.rate,
    }
    weights = model.coefficients()
    order = np.argsort(weights, kind="stable")
    names = kept.names.by_index() if kept.names is not None else {}

    def entries(places: Any) -> list[dict[str, Any]]:
        return [
            {"feature": names.get(int(place), f"#{place}"), "weight": float(weights[place])}
            for place in places
        ]

    return {
        "settings": settings,
        "reading": kept.reading.as_json(),
        "columns": _columns(kept.reading),
        "labels": _labels(kept.reading),
        "finished": kept.unfinished is None,
        "learned_weight": model.clock,
        "progressive_loss": finite(model.progressive_loss),
        "bias": model.bias,
        "features": model.features,
        "nonzero": int(np.count_nonzero(weights)),
        "names": len(kept.names) if kept.names is not None else 0,
        "top_positive": entries([place for place in order[::-1][:top] if weights[place] > 0.0]),
        "top_negative": entries([place for place in order[:top] if weights[place] < 0.0]),
    }


def _columns(reading: InputSpec) -> list[dict[str, str]] | None:
    """Of a table, or of the one that ready-made rows were converted from."""
    columns = reading.columns or (None if reading.original is None else reading.original.columns)
    return None if columns is None else [asdict(column) for column in columns.columns]


def _labels(reading: InputSpec) -> dict[str, float] | None:
    """What the two classes are called, and the labels that the loss knows them by."""
    rule = reading.label_rule or (None if reading.original is None else reading.original.label_rule)
    return None if rule is None else {rule.negative: rule.low, rule.positive: rule.high}


def _text(result: dict[str, Any]) -> str:
    settings, reading = result["settings"], result["reading"]
    parameters = "".join(f", {name} {value:g}" for name, value in settings["loss_parameters"].items())
    share = result["nonzero"] / result["features"]
    loss = "unknown" if result["progressive_loss"] is None else f"{result['progressive_loss']:.6f}"
    lines = [
        f"loss                   {settings['loss']}{parameters}",
        f"update                 {settings['update']}",
        f"scaling                {settings['scaling']}",
        f"rate                   {settings['learning_rate']:g}, "
        f"initial_t {settings['initial_t']:g}, power_t {settings['power_t']:g}",
        f"regularisation         l1 {settings['l1']:g}, l2 {settings['l2']:g}",
        f"reads                  {reading['format']}"
        + "".join(f", {cross}" for cross in reading["interactions"]),
        *_about_labels(result["labels"]),
        f"learned                {result['learned_weight']:,.6g} of weight"
        + ("" if result["finished"] else " (a checkpoint, not through)"),
        f"average loss           {loss}",
        f"weights                {result['nonzero']:,} of {result['features']:,} are not zero ({share:.3%})",
        f"bias                   {result['bias']:.6g}",
    ]
    if result["columns"] is not None:
        columns = Columns(tuple(Column(**column) for column in result["columns"]))
        lines += ["", "columns", *(f"  {line}" for line in columns.describe().splitlines())]
    for title, key in (("largest weights", "top_positive"), ("smallest weights", "top_negative")):
        if result[key]:
            lines += ["", title]
            lines += [f"  {entry['weight']:>12.6f}  {entry['feature']}" for entry in result[key]]
    return "\n".join(lines)


def _about_labels(labels: dict[str, float] | None) -> list[str]:
    if labels is None:
        return []
    return ["labels                 " + ", ".join(f"{name} is {value:g}" for name, value in labels.items())]
