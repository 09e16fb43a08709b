"""Checkpoints of a run over files: what they hold beside the model, and how a run continues from one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._parameters import Message, Parameter, bare
from steelyard.engine import holdout
from steelyard.engine.passes import HeldOutScores
from steelyard.engine.run_options import KEPT_BY_CHECKPOINTS, RunOptions
from steelyard.engine.totals import StreamTotals
from steelyard.io.errors import InputError
from steelyard.model_file import ModelFile

if TYPE_CHECKING:
    from steelyard.engine.file_training import FileTraining


def as_json(training: "FileTraining") -> dict[str, Any]:
    """Describe the position of a run, and its options."""
    held = training.loop.held_out
    return {
        "paths": training.files.paths,
        "options": {
            name: getattr(training.run_options, name) for name in (*KEPT_BY_CHECKPOINTS, "calibrate")
        },
        "position": training.loop.position,
        "held": [held.loss.tolist(), held.weight, held.error.tolist()],
        "before": [column.tolist() for column in training.before],
    } | training.totals.as_json()


def options_of(
    stored: dict[str, Any], path: str | Path, paths: Sequence[str], run: RunOptions, given: Sequence[str]
) -> RunOptions:
    if "cluster" in stored:
        cluster = Parameter("cluster", in_python="it to DistributedClassifier")
        raise InputError(
            f"{path} is the checkpoint of a run on a cluster: give ", cluster, " again to continue"
        )
    if stored["paths"] != list(paths):
        raise InputError(
            f"{path} is the checkpoint of a run over {' '.join(stored['paths'])}: name the same files"
        )
    # earlier checkpoints have no "shuffle"
    kept = {name: stored["options"].get(name) for name in KEPT_BY_CHECKPOINTS}
    kept["holdout"] = holdout.from_json(kept["holdout"])
    for name in given:
        before, now = kept[name], getattr(run, name)
        if before != now:
            raise InputError(
                f"{path} is the checkpoint of a run", _setting(name, before), ", and cannot continue",
                _setting(name, now),
            )  # fmt: skip
    calibrate = run.calibrate or stored["options"].get("calibrate", False)
    return replace(run, **kept, calibrate=calibrate)


def _setting(name: str, value: Any) -> Message:
    """How a run was set, as the end of "a run" or "continue"."""
    if value is None:
        return Message(" without ", bare(name))
    if name == "shuffle":
        return Message(" with ", Parameter("seed", value, in_python=f"shuffle={value}"))
    number, space, seed = str(value).partition(" ")  # a share of rows to hold out has a seed
    return Message(" with ", Parameter(name, number, in_python=f"{name}={number}"), space + seed)


def restore_run(training: "FileTraining", stored: ModelFile) -> None:
    assert stored.run is not None
    run, settings = stored.run, len(training.engine.settings)
    training.loop.position = run["position"][0], run["position"][1]
    training.totals = StreamTotals.from_json(run, stored.run_arrays)
    loss, weight, *error = run["held"]
    errors = np.array(error[0]) if error else np.full(settings, np.nan)  # earlier checkpoints have no errors
    training.loop.held_out = HeldOutScores(np.atleast_1d(np.array(loss, float)), errors, weight)
    before = run.get("before", [0.0, 0.0])
    training.before = np.atleast_1d(before[0]).astype(float), np.atleast_1d(before[1]).astype(float)
