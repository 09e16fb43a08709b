"""Reads all rows of labelled files into memory, for simulations that shuffle them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steelyard._messages import counted
from steelyard.active.strategy_trials import LOSS
from steelyard.cli import options
from steelyard.engine import file_labels
from steelyard.engine.file_rows import FileRows
from steelyard.engine.file_training import RunOptions
from steelyard.examples import Examples
from steelyard.io import sources
from steelyard.io.errors import InputError
from steelyard.io.stream import Stream


@dataclass(frozen=True)
class LabelledRows:
    """Rows of two classes, with labels −1 and 1."""

    examples: Examples
    classes: tuple[str, str]
    stream: Stream
    format: str
    unlabelled: int


def read(files: Sequence[str], given: dict[str, Any]) -> LabelledRows:
    paths = sources.expand(files)
    read = options.read_options(given | {"weight_factor": 1.0})
    spec, first = read.infer(paths, "float32")
    labels = file_labels.settle(paths, spec, first, LOSS, named=read.label_names, task=file_labels.CLASSES)
    rule = file_labels.in_terms_of(labels, LOSS).rule
    if labels.classes != 2 or rule is None:
        raise InputError(
            f"{', '.join(paths)}: has {labels.classes} classes, and a simulation needs two: "
            "--labels '*,NAME' tells one from the rest"
        )
    spec = replace(spec, label_rule=rule)
    run = RunOptions(threads=given["threads"], skip_errors=given["on_error"] == "skip")
    stream = FileRows(paths, spec, threads=run.usable_threads, skip=run.skip_errors).open()
    rows = _concatenate([_check_plain(parsed.examples, paths) for parsed in stream])
    known = np.flatnonzero(~np.isnan(rows.labels))
    where = ", ".join(paths)
    if not len(known):
        raise stream.empty(f"{where}: no row has a label; a simulation needs labels to answer its questions")
    found = np.unique(rows.labels[known])
    if len(found) < 2:
        only = rule.positive if found[0] > 0.0 else rule.negative
        raise InputError(
            f"{where}: all {counted(len(known), 'row')} are of one class, {only}: there is nothing to learn"
        )
    unlabelled = len(rows) - len(known)
    return LabelledRows(
        _renumber(rows.take(known)), (rule.negative, rule.positive), stream, spec.format, unlabelled
    )


def _check_plain(examples: Examples, paths: Sequence[str]) -> Examples:
    """Every label costs the same and every row counts once, so weights and offsets are refused."""
    if (examples.sample_weight[~np.isnan(examples.labels)] != 1.0).any() or examples.offsets is not None:
        what = "weights" if examples.offsets is None else "offsets"
        raise InputError(
            f"{', '.join(paths)}: rows have {what}, but a simulation counts every row once; "
            "leave out such columns (--ignore COLUMN)"
        )
    return examples


def _concatenate(parts: list[Examples]) -> Examples:
    ends = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum().astype(np.int64)
    columns = [
        np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0)])
        for name in ("indices", "values", "labels", "sample_weight")
    ]
    indices, values, labels, sample_weight = columns
    features = parts[0].features if parts else 0
    return Examples(ends, indices, values, False, features, labels, sample_weight)


def _renumber(rows: Examples) -> Examples:
    """The rows with only the features that occur, which get new numbers: many such models fit into memory."""
    features, numbers = np.unique(rows.indices, return_inverse=True)
    return Examples(
        rows.indptr, numbers.astype(np.int32), rows.values, False, len(features), rows.labels,
        rows.sample_weight,
    )  # fmt: skip
