"""`steelyard inspect`: what is in a model file."""

import json
from pathlib import Path
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.common import fact_lines, steps_fact
from steelyard.cli.help_examples import EXAMPLES
from steelyard.io.columns import Column, Columns


@click.command(epilog=EXAMPLES["inspect"])
@options.MODEL
@click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True,
    help="How many positive and how many negative coefficients to list.",
)  # fmt: skip
@options.OWN_LOSS
@options.JSON
def command(model: Path, top: int, as_json: bool, **given: Any) -> None:
    """Show a model: settings, figures, and the largest coefficients of every class, by name."""
    from steelyard.cli import scoring
    from steelyard.scoring.description import describe

    with options.errors():
        result = describe(scoring.load_learned(model, given["loss"]), top)
    click.echo(json.dumps(result) if as_json else _text(result))


def _text(result: dict[str, Any]) -> str:
    settings, models = result["settings"], result.get("models")
    parameters = "".join(f", {name} {value:g}" for name, value in settings["loss_parameters"].items())
    loss, error, weights = result["progressive_loss"], result["progressive_error"], result["class_weight"]
    total = result["features"] * (1 if models is None else len(models))
    share = result["nonzero"] / total
    lines = fact_lines(
        {
            "loss": f"{settings['loss']}{parameters}",
            "update": settings["update"],
            "scaling": settings["scaling"],
            "learning rate": f"{settings['learning_rate']:g}, initial_t {settings['initial_t']:g}, "
            f"power_t {settings['power_t']:g}" + (" (auto)" if settings["auto"] else ""),
            "steps": steps_fact(result["class_steps"]),
            "regularisation": f"l1 {settings['l1']:g}, l2 {settings['l2']:g}",
            "reads": _reads(result["reading"]),
            **_about_classes(result),
            "learned": f"a total weight of {result['learned_weight']:,.6g}"
            + ("" if result["finished"] else " (a checkpoint, not finished)"),
            "average loss": "unknown" if loss is None else f"{loss:.6f}",
            "probabilities": f"calibrated on {result['calibrated_on']}" if result["calibrated"] else None,
            "class weight": None if weights is None else _show_weights(weights),
            "error rate": None if error is None else f"{error:.6f}",
            "coefficients": f"{result['nonzero']:,} of {total:,} are not zero ({share:.3%})",
            "bias": f"{result['bias']:.6g}" if models is None else None,
        }
    )
    if result["columns"] is not None:
        columns = Columns(tuple(Column(**column) for column in result["columns"]))
        lines += ["", "columns", *(f"  {line}" for line in columns.describe().splitlines())]
    for each in [result] if models is None else models:
        lines += _coefficients(each, "" if models is None else f" of {each['class']}")
    return "\n".join(lines)


def _show_weights(class_weight: Any) -> str:
    """`balanced`, or as on the command line."""
    if isinstance(class_weight, str):
        return class_weight
    return ", ".join(f"{name}={weight:g}" for name, weight in class_weight)


def _reads(spec: dict[str, Any] | None) -> str:
    if spec is None:
        return "rows in Python (it does not know how files are read)"
    return str(spec["format"]) + "".join(f", {cross}" for cross in spec["interactions"])


def _about_classes(result: dict[str, Any]) -> dict[str, str]:
    labels, classes = result["labels"], result["classes"]
    if labels is not None and len(labels) == 2:
        return {"labels": ", ".join(f"{name} is {value:g}" for name, value in labels.items())}
    return {} if classes is None else {"classes": ", ".join(classes)}


def _coefficients(model: dict[str, Any], whose: str) -> list[str]:
    lines = []
    for title, key in (("largest", "top_positive"), ("smallest", "top_negative")):
        if model[key]:
            lines += ["", f"{title} coefficients{whose}"]
            lines += [f"  {entry['weight']:>12.6f}  {entry['feature']}" for entry in model[key]]
    return lines
