"""`steelyard evaluate`: how good a model is on labelled files."""

import json
from pathlib import Path
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.common import fact_lines
from steelyard.cli.help_examples import EXAMPLES

_FACTS = {
    "examples": "examples", "weight": "weight", "loss": "average loss", "rmse": "root mean square error",
    "mae": "mean absolute error", "r2": "R²",
    "best_constant": "best constant", "most_frequent_class": "most frequent class",
    "best_constant_loss": "best constant's loss", "accuracy": "accuracy",
    "most_frequent_class_accuracy": "base-rate accuracy", "auc": "area under ROC",
    "macro_f1": "macro-averaged F1", "log_loss": "log loss", "calibration_error": "calibration error",
    "unlabelled": "without label or weight", "skipped": "skipped lines",
}  # fmt: skip
_WIDEST_TABLE = 12  # classes of which a confusion table is printed; JSON has it for any number
_CORNER = "actual \\ predicted"
_LONGEST = 18  # of a class in a table


@click.command(epilog=EXAMPLES["evaluate"])
@options.MODEL
@options.FILES
@options.HELD_OUT
@options.EVALUATED_LABELS
@options.SCORING
@options.JSON
def command(model: Path, files: tuple[str, ...], *, as_json: bool, held_out: bool, **given: Any) -> None:
    """Compare predictions with labels: loss, accuracy, confusion table, F1, AUC, calibration.

    Everything is weighted: a row of weight h counts as h rows.
    """
    from steelyard.cli import scoring
    from steelyard.io import sources
    from steelyard.scoring import evaluation

    with options.errors():
        loaded, paths = scoring.load(model, given["loss"], given["text"]), sources.expand(files)
        rows = evaluation.held_out_rows(loaded, paths) if held_out else None
        scored = scoring.score_files(loaded, paths, given, labelled=True)
        result = evaluation.measure(loaded, scored, held_out=rows)
    scoring.tell_skipped(scored.stream)
    click.echo(json.dumps(result) if as_json else text(result))


def text(result: dict[str, Any]) -> str:
    lines = fact_lines({_FACTS[key]: _show(value) for key, value in result.items() if key in _FACTS})
    if "classes" in result:
        lines += ["", *_class_table(result["classes"]), *_confusion_table(result)]
    if "calibration" in result:
        whose = repr(result["positive_class"]) if "positive_class" in result else "the predicted class"
        lines += ["", f"calibration: predicted probability of {whose}, and its observed share"]
        lines.append(f"{'predicted':>10} {'observed':>10} {'weight':>14}")
        lines += [
            f"{row['predicted']:>10.4f} {row['observed']:>10.4f} {row['weight']:>14,.6g}"
            for row in result["calibration"]
        ]
    return "\n".join([*lines, *(f"note: {note}" for note in result["notes"])])


def _class_table(classes: list[dict[str, Any]]) -> list[str]:
    width = max(5, *(len(_shorten(row["class"])) for row in classes))
    lines = [f"{'class':<{width}} {'precision':>10} {'recall':>10} {'F1':>10} {'weight':>14}"]
    for row in classes:
        figures = " ".join(f"{_fraction(row[name]):>10}" for name in ("precision", "recall", "f1"))
        lines.append(f"{_shorten(row['class']):<{width}} {figures} {row['weight']:>14,.6g}")
    return lines


def _confusion_table(result: dict[str, Any]) -> list[str]:
    names = [_shorten(row["class"]) for row in result["classes"]]
    if len(names) > _WIDEST_TABLE:
        listed = _most_confused(result["confusions"]) if result["confusions"] else []
        return ["", *listed, f"the confusion table of {len(names)} classes is in the output of --json"]
    cells = [[f"{weight:,.6g}" for weight in row] for row in result["confusion"]]
    widths = [max(len(name), *(len(row[k]) for row in cells)) for k, name in enumerate(names)]
    first = max(len(_CORNER), *map(len, names))
    lines = ["", " ".join([f"{_CORNER:<{first}}", *map(str.rjust, names, widths)])]
    lines += [
        " ".join([f"{name:<{first}}", *map(str.rjust, row, widths)])
        for name, row in zip(names, cells, strict=True)
    ]
    return lines


def _most_confused(pairs: list[dict[str, Any]]) -> list[str]:
    rows = [(_shorten(pair["actual"]), _shorten(pair["predicted"]), pair["weight"]) for pair in pairs]
    width = max(len(actual) for actual, _, _ in rows)
    lines = [f"{weight:>14,.6g}  {actual:<{width}} → {predicted}" for actual, predicted, weight in rows]
    return ["most frequent confusions, actual → predicted", *lines, ""]


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _fraction(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _show(value: Any) -> str:
    if value is None:  # an area between one class and none, or what is beyond all numbers
        return "undefined"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
