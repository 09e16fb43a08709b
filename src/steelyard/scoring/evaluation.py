"""How good a model is on labelled files: figures, and what should not be overlooked about them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from steelyard._parameters import Parameter
from steelyard.engine.holdout import Holdout, marker
from steelyard.engine.training_record import TrainingRecord
from steelyard.io import grouped_rows
from steelyard.io.columns import LABEL
from steelyard.io.errors import InputError
from steelyard.io.stream import several_labels
from steelyard.model_file import ModelFile
from steelyard.scoring import ranked_scores
from steelyard.scoring.file_scores import FileScores, ScoredBlock
from steelyard.scoring.loaded_model import LoadedModel
from steelyard.scoring.metrics import Metrics


def held_out_rows(loaded: LoadedModel, paths: list[str]) -> Holdout:
    """Which rows of these files the model's training held out; an error if it did not, or not of these."""
    record = TrainingRecord.of(loaded.content.training)
    found = record.held_out_of(paths)
    if found is None and record.learned_later_of(paths):
        raise InputError(
            f"{loaded.path}: rows of {' '.join(paths)} were held out at first, but a later run learned them: "
            "evaluate the model of the first run, or train a new one, for example with ",
            Parameter("holdout", 0.2),
        )
    if found is None and record.held_out:
        raise InputError(
            f"{loaded.path}: rows were held out of other files than {' '.join(paths)}: name those of the "
            "training run, in the same order, unchanged"
        )
    if found is None:
        raise InputError(
            f"{loaded.path}: no rows were held out when it was trained; train it anew, for example with ",
            Parameter("holdout", 0.2),
        )
    return found


def measure(
    loaded: LoadedModel,
    files: FileScores,
    *,
    held_out: Holdout = None,
    watch: Callable[[ScoredBlock], None] | None = None,
) -> dict[str, Any]:
    """Compare predictions with labels: of all rows, or of those held out, whose rule is given.

    `watch` is shown every block; rows that do not count weigh nothing there.
    """
    metrics = Metrics(loaded.meaning, ordered=loaded.classes_are_ordered)
    stream, spec = files.stream, files.spec
    mark, together, others = marker(held_out), grouped_rows.ROWS if spec.counted else 1, 0
    for block in files:
        if held_out is not None:
            held = np.repeat(mark(len(block) // together), together)
            others += int(np.count_nonzero(~held)) // together
            block = block.weighted(np.where(held, block.examples.sample_weight, 0.0))
        metrics.add(block.scores.raw, block.examples.labels, block.examples.sample_weight)
        if watch is not None:
            watch(block)
    if not metrics.weight:
        label = [] if spec.columns is None else spec.columns.with_role(LABEL)
        where = f" (the labels are in the column {label[0]!r})" if label else ""
        raise stream.empty(f"no row has a label and a weight{where}, so there is nothing to compare with")
    result = metrics.result()
    rows = stream.rows - others
    if spec.counted:  # its rows are counted as they stand in the files
        result["examples"] = rows
    unlabelled = rows - result["examples"]
    result |= ({"unlabelled": unlabelled} if unlabelled else {}) | {"skipped": stream.skipped}
    found = _notes(result, loaded.content, stream.paths if held_out is None else [])
    if stream.several_labels and held_out is None:
        found.append(several_labels(stream.several_labels))
    return result | {"notes": found}


def _notes(result: dict[str, Any], content: ModelFile, paths: list[str]) -> list[str]:
    """Warns of a model that is worse than a constant, or judged by the rows that it learned."""
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
