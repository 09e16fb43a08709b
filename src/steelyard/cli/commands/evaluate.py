"""`steelyard evaluate`: how good a model is on labelled files."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from steelyard.cli import options
from steelyard.cli.common import fact_lines, tell
from steelyard.cli.help_examples import EXAMPLES
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.engine.holdout import Holdout
    from steelyard.engine.loaded_model import LoadedModel
    from steelyard.io.blocks import ParsedBlock
    from steelyard.io.input_spec import InputSpec
    from steelyard.model_file import ModelFile

    Begin = Callable[[InputSpec], Callable[[ParsedBlock], None]]

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
    result = run(model, files, given, held_out=held_out)
    click.echo(json.dumps(result) if as_json else text(result))


def run(model: Path, files: tuple[str, ...], given: dict[str, Any], *, held_out: bool) -> dict[str, Any]:
    from steelyard.cli import scoring
    from steelyard.io import sources

    with options.errors():
        loaded, paths = scoring.load(model, given["loss"], given["text"]), sources.expand(files)
        return measure(loaded, paths, given, held_out=held_out_rows(loaded, paths) if held_out else None)


def held_out_rows(loaded: "LoadedModel", paths: list[str]) -> "Holdout":
    """Which rows of these files the model's training held out; an error if it did not, or not of these."""
    from steelyard.engine.training_record import TrainingRecord

    record = TrainingRecord.of(loaded.content.training)
    found = record.held_out_of(paths)
    if found is None and record.learned_later_of(paths):
        raise InputError(
            f"{loaded.path}: rows of {' '.join(paths)} were held out at first, but a later run learned them: "
            "evaluate the model of the first run, or train a new one, for example with --holdout 0.2"
        )
    if found is None and record.held_out:
        raise InputError(
            f"{loaded.path}: rows were held out of other files than {' '.join(paths)}: name those of the "
            "training run, in the same order, unchanged"
        )
    if found is None:
        raise InputError(
            f"{loaded.path}: no rows were held out when it was trained; train it anew, for example with "
            "--holdout 0.2"
        )
    return found


def measure(
    loaded: "LoadedModel",
    paths: list[str],
    given: dict[str, Any],
    begin: "Begin | None" = None,
    *,
    held_out: "Holdout" = None,
) -> dict[str, Any]:
    """Predict the files and compare: all rows, or those held out, whose rule is given.

    What `begin` returns, given how the files are read, is shown every block; other rows weigh nothing there.
    """
    from steelyard.cli import scoring
    from steelyard.engine.holdout import marker
    from steelyard.engine.metrics import Metrics
    from steelyard.io import grouped_rows
    from steelyard.io.absent_columns import AbsentColumns
    from steelyard.io.columns import LABEL
    from steelyard.io.stream import several_labels

    spec, stream = scoring.score(loaded, paths, given, labelled=True)
    metrics = Metrics(
        loaded.loss, loaded.class_names, loaded.content.calibration, ordered=loaded.classes_are_ordered
    )
    watch = None if begin is None else begin(spec)
    mark, together, others = marker(held_out), grouped_rows.ROWS if spec.counted else 1, 0
    for parsed in AbsentColumns(spec, tell).watch(stream):
        if held_out is not None:
            held = np.repeat(mark(len(parsed.examples) // together), together)
            others += int(np.count_nonzero(~held)) // together
            weights = np.where(held, parsed.examples.sample_weight, 0.0)
            parsed = replace(parsed, examples=replace(parsed.examples, sample_weight=weights))
        metrics.add(scoring.predictions_of(parsed), parsed.examples.labels, parsed.examples.sample_weight)
        if watch is not None:
            watch(parsed)
    if not metrics.weight:
        label = [] if spec.columns is None else spec.columns.with_role(LABEL)
        where = f" (the labels are in the column {label[0]!r})" if label else ""
        raise stream.empty(f"no row has a label and a weight{where}, so there is nothing to compare with")
    scoring.tell_skipped(stream)
    result = metrics.result()
    rows = stream.rows - others
    if spec.counted:  # its rows are counted as they stand in the files
        result["examples"] = rows
    unlabelled = rows - result["examples"]
    result |= ({"unlabelled": unlabelled} if unlabelled else {}) | {"skipped": stream.skipped}
    found = notes(result, loaded.content, paths if held_out is None else [])
    if stream.several_labels and held_out is None:
        found.append(several_labels(stream.several_labels))
    return result | {"notes": found}


def notes(result: dict[str, Any], content: "ModelFile", paths: list[str]) -> list[str]:
    """What should not be overlooked: worse than a constant, or judged by the rows that were learned."""
    from steelyard.engine import ranked_scores
    from steelyard.engine.training_record import TrainingRecord

    found = _worse_than_a_constant(result, weighted=bool(content.parameters.get("class_weight")))
    if result.get("auc_error"):
        found.append(
            f"there are more than {ranked_scores.MOST:,} different scores, so neighbours count as ties: the "
            f"area under ROC may be off by {result['auc_error']:.1g}"
        )
    record = TrainingRecord.of(content.training)
    known = [path for path in paths if record.has(path)]
    if known:
        found.append(f"the model was trained on {', '.join(known)}: on new rows it may be much worse")
    return found


def _worse_than_a_constant(result: dict[str, Any], *, weighted: bool) -> list[str]:
    """In answers or in loss; with class weights, that was asked for."""
    gain = result.get("accuracy", 0.0) - result.get("most_frequent_class_accuracy", 0.0)
    loss, constant = result["loss"], result["best_constant_loss"]
    if gain >= 0.0 and (None in (loss, constant) or loss <= constant):
        return []
    if weighted:
        return [
            "the model was trained with class weights, which trade accuracy for recall of the classes that "
            f"weigh more (always answering {result['most_frequent_class']} is right for "
            f"{result['most_frequent_class_accuracy']:.2%}); its probabilities refer to the weighted rows"
        ]
    if gain < 0.0:
        return [
            f"the model is worse than always answering {result['most_frequent_class']}, which is right for "
            f"{result['most_frequent_class_accuracy']:.2%}"
        ]
    if gain == 0.0:  # so it is of numbers, too
        return ["the loss is above the best constant's: the same answer for every row would be better"]
    if "log_loss" not in result:
        return ["the loss is above the best constant's, although more answers are right"]
    shares = np.array([row["weight"] for row in result["classes"]]) / result["weight"]
    entropy = -float(shares @ np.log(np.where(shares > 0.0, shares, 1.0)))  # the log loss of these shares
    if result["log_loss"] > entropy:
        return [
            "more answers are right than a constant's, but the probabilities are worse than constant ones"
        ]
    return ["the loss is above the best constant's, although answers and probabilities are better"]


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
