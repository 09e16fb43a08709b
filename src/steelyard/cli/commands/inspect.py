"""`steelyard inspect`: what is in a model file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard import losses
from steelyard.cli import options
from steelyard.cli.common import fact_lines, steps_fact
from steelyard.cli.help_examples import EXAMPLES
from steelyard.engine.loaded_model import LearnedModel
from steelyard.engine.metrics import finite
from steelyard.io.columns import Column, Columns
from steelyard.model import Model
from steelyard.model_file import ModelFile


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

    with options.errors():
        result = describe(scoring.load_learned(model, given["loss"]), top)
    click.echo(json.dumps(result) if as_json else _text(result))


def describe(loaded: LearnedModel, top: int) -> dict[str, Any]:
    """The figures of a model; with more than two classes, of the model of each."""
    engine, content = loaded.engine, loaded.content
    settings = engine.settings[engine.best]
    names = loaded.feature_names
    columns = rule = None
    if content.spec is not None:
        spec = loaded.spec()
        made_from = spec.original or spec  # a converted file has the columns and classes of another
        columns, rule = spec.columns or made_from.columns, spec.label_rule or made_from.label_rule
    result: dict[str, Any] = {
        "settings": asdict(settings)
        | {
            "loss": losses.name_of(settings.loss) or type(settings.loss).__name__,
            "loss_parameters": asdict(settings.loss),
            "learning_rate": settings.rate,
            "auto": len(engine.settings) > 1,
        },
        "made_by": content.estimator,
        "reading": content.spec,
        "columns": None
        if columns is None
        else [{"name": each.name, "role": each.role, "why": each.why} for each in columns.columns],
        "labels": None if rule is None else dict(zip(rule.names, rule.values, strict=True)),
        "classes": loaded.class_names,
        "class_steps": engine.rare_class_factor,
        "calibrated": content.calibration is not None,
        "calibrated_on": _calibrated_on(content),
        "class_weight": content.parameters.get("class_weight"),
        "finished": content.run is None,
        "learned_weight": content.engine.answering.clock,
        "progressive_loss": finite(float(engine.progressive_loss[engine.best])),
        "progressive_error": finite(float(engine.progressive_error[engine.best]))
        if loaded.class_names
        else None,
        "features": engine.features,
        "nonzero": 0,
        "names": len(names),
    }
    found = []
    for model in engine.each_model():
        result["nonzero"] += int(np.count_nonzero(model.coefficients()))
        found.append(_largest(model, names, top))
    if len(found) == 1:
        return result | found[0]
    assert loaded.class_names is not None
    return result | {
        "models": [{"class": name} | own for name, own in zip(loaded.class_names, found, strict=True)]
    }


def _calibrated_on(content: ModelFile) -> str | None:
    if content.calibration is None:
        return None
    return "progressive predictions" if content.progressive_calibration else "rows held out"


def _largest(model: Model, names: dict[int, str], top: int) -> dict[str, Any]:
    weights = model.coefficients()
    order = np.argsort(weights, kind="stable")

    def entries(places: Any) -> list[dict[str, Any]]:
        return [
            {"feature": names.get(int(place), f"#{place}"), "weight": float(weights[place])}
            for place in places
        ]

    return {
        "bias": model.bias,
        "top_positive": entries([place for place in order[::-1][:top] if weights[place] > 0.0]),
        "top_negative": entries([place for place in order[:top] if weights[place] < 0.0]),
    }


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
