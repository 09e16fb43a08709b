"""`Merge`: the contents of model files that learned parts of the rows, on the way to one."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Parameter
from steelyard.engine import file_labels, progressive_calibration
from steelyard.engine.file_rows import spec_of
from steelyard.engine.protocol import restore
from steelyard.engine.training_record import TrainingRecord
from steelyard.io.errors import InputError
from steelyard.learn import margin_histogram
from steelyard.learn.margin_histogram import CURRENT, LAST
from steelyard.merging.parts import GRADIENTS, Part, part_of
from steelyard.model import Model
from steelyard.model_file import EngineState, ModelFile

Arrays = dict[str, NDArray[Any]]
Piece = TypeVar("Piece")


@dataclass(frozen=True)
class Merge:
    """One file or several, in their order. `merged` adds another; `content` makes a file of them."""

    first: ModelFile
    """What all files share, from the first; it has no models."""
    parts: list[Part]
    """A part for each setting and class."""
    error: NDArray[np.float64] | None
    alive: NDArray[np.float64] | None
    calibrations: list[list[list[float]]]
    """Sigmoids fitted to rows held out, of every file."""
    margins: Arrays
    """What sigmoids are fitted to otherwise."""
    record: TrainingRecord

    @classmethod
    def of(cls, content: ModelFile, base: ModelFile | None = None, by: str = GRADIENTS) -> "Merge":
        """`base` is the file from which this one and those it will be merged with went on."""
        engine, before = content.engine, None if base is None else base.engine
        bases: Sequence[Model | None] = [None] * len(engine.models) if before is None else before.models
        record = TrainingRecord.of(content.training)
        if base is not None:
            known = TrainingRecord.of(base.training)
            record.files = [entry for entry in record.files if entry not in known.files]
            record.rows, record.learned = record.rows - known.rows, record.learned - known.learned
        margins = dict(content.progressive_calibration)
        if base is not None and margins:
            margins["time"] = margins["time"] - base.progressive_calibration["time"]
        fitted = content.calibration if content.calibration is not None and not margins else None
        return cls(
            replace(content, engine=replace(engine, models=[]), run=None, run_arrays={}),
            [part_of(model, start, by) for model, start in zip(engine.models, bases, strict=True)],
            _minus(engine.error, None if before is None else before.error),
            engine.alive,
            [] if fitted is None else [fitted],
            margins,
            record,
        )

    def merged(self, other: "Merge") -> "Merge":
        """Merge both. Names of features are those of the first that has one."""
        names = self.first.names
        if names is not None and other.first.names is not None:
            names = copy.deepcopy(names)
            names.update(other.first.names)
        margins = {name: array + other.margins[name] for name, array in self.margins.items()}
        # what one model held out another may have learned
        record = replace(self.record, files=list(self.record.files), curve=[], held_out=[])
        record.files += [entry for entry in other.record.files if entry not in record.files]
        record.rows += other.record.rows
        record.learned += other.record.learned
        return Merge(
            replace(self.first, names=names),
            [mine.merged(others) for mine, others in zip(self.parts, other.parts, strict=True)],
            None if self.error is None or other.error is None else self.error + other.error,
            None if self.alive is None or other.alive is None else np.minimum(self.alive, other.alive),
            self.calibrations + other.calibrations,
            margins,
            record,
        )

    def content(self, base: ModelFile | None = None, *, total: float | None = None) -> ModelFile:
        """Make a model file. `total` is as for `Part.model`."""
        before = None if base is None else base.engine
        bases: Sequence[Model | None] = [None] * len(self.parts) if before is None else before.models
        models = [part.model(start, total=total) for part, start in zip(self.parts, bases, strict=True)]
        empty = self.first.engine
        error = self.error
        if error is not None and before is not None and before.error is not None:
            error = error + before.error
        engine = restore(EngineState(empty.settings, models, empty.classes, 0, error, self.alive))
        record = self.record
        if base is not None:
            known = TrainingRecord.of(base.training)
            record = replace(
                record,
                files=known.files + [entry for entry in record.files if entry not in known.files],
                rows=record.rows + known.rows,
                learned=record.learned + known.learned,
                curve=known.curve,
            )
        record = replace(record, curve=list(record.curve))
        record.finish(engine)
        content = replace(self.first, engine=engine.state(), training=record.as_json())
        content.progressive_calibration = dict(self.margins)
        if self.margins and base is not None:
            content.progressive_calibration["time"] = (
                self.margins["time"] + base.progressive_calibration["time"]
            )
        if self.calibrations:
            content.calibration = np.mean(self.calibrations, axis=0).tolist()
        return with_fitted_calibration(content)


def with_fitted_calibration(content: ModelFile) -> ModelFile:
    """Add the sigmoids that the progressive margins make."""
    spec = None if content.spec is None else spec_of(content, "the model")
    names = file_labels.class_names_of(content, spec)
    found = progressive_calibration.load(content, "the model", 0 if names is None else len(names))
    if found is None:
        return content
    return replace(content, calibration=found.sigmoids(restore(content.engine).shares))


def merge(
    contents: Sequence[ModelFile],
    base: ModelFile | None = None,
    by: str = GRADIENTS,
    names: Sequence[Any] = (),
) -> ModelFile:
    """One model file of several, in this order, which all went on from `base`, if from any.

    A single one stays as it is. `names` are those of the files, for messages.
    """
    paths = [*names] or [f"model {number}" for number in range(1, len(contents) + 1)]
    for path, content in zip(paths[1:], contents[1:], strict=True):
        check_alike(contents[0], content, paths[0], path)
    if base is not None:
        check_alike(contents[0], base, paths[0], "the base")
    if len(contents) == 1:
        return contents[0]
    pieces = [Merge.of(content, base, by) for content in contents]
    whole = merge_tree(pieces, Merge.merged)
    clocks = [content.engine.models[0].clock for content in contents]
    before = 0.0 if base is None else base.engine.models[0].clock
    return whole.content(base, total=before + sum(clock - before for clock in clocks))


def merge_tree(pieces: Sequence[Piece], merge_two: Callable[[Piece, Piece], Piece]) -> Piece:
    """Merge neighbours, then neighbours of these: the same tree wherever its nodes are computed."""
    level = list(pieces)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [merge_two(left, right) for left, right in pairs] + level[len(level) // 2 * 2 :]
    return level[0]


def joined_margins(before: Arrays, added: Arrays) -> Arrays:
    """Margins of a round after earlier ones, which are forgotten as `learn.margin_histogram` says."""
    bins, time = before["bins"].copy(), before["time"].copy()
    if time[margin_histogram.CLOCK] >= 2.0 * time[margin_histogram.BEGAN]:
        bins[:, LAST], bins[:, CURRENT] = bins[:, CURRENT], 0.0
        time[margin_histogram.BEGAN] = time[margin_histogram.CLOCK]
    bins[:, CURRENT] += added["bins"].sum(axis=1)
    time[margin_histogram.CLOCK] += added["time"][margin_histogram.CLOCK]
    return {"bins": bins, "time": time}


def check_alike(first: ModelFile, other: ModelFile, path: str | Path, other_path: str | Path) -> None:
    """Whether two models have learned the same task in the same way; if not, in what they differ."""
    differing = []
    if first.engine.settings != other.engine.settings:
        differing.append("settings")
    if first.engine.models[0].features != other.engine.models[0].features:
        differing.append("numbers of features")
    if _listed(first.class_names) != _listed(other.class_names):
        differing.append("classes")
    if _reading(first) != _reading(other):
        differing.append("ways of reading files")
    if _listed(first.feature_names) != _listed(other.feature_names):
        differing.append("names of features")
    if bool(first.progressive_calibration) != bool(other.progressive_calibration):
        differing.append("calibrations")
    if differing:
        raise InputError(
            f"{path} and {other_path} have different {' and '.join(differing)}, and cannot be merged: train "
            "both with the same options (", Parameter("labels"), " names the classes, where a part lacks some)",
        )  # fmt: skip


def _reading(content: ModelFile) -> Any:
    """What decides which feature is which: not the factor of weights, or how columns were recognised."""
    if content.spec is None:
        return None
    own = {"weight_factor", "dialect", "encoding", "columns"}
    columns = (content.spec["columns"] or {}).get("columns", [])
    rest = {name: value for name, value in content.spec.items() if name not in own}
    return rest, [(name, role) for name, role, _ in columns]


def _listed(names: NDArray[Any] | None) -> list[Any] | None:
    return None if names is None else names.tolist()


def _minus(now: NDArray[np.float64] | None, before: NDArray[np.float64] | None) -> Any:
    return now if now is None or before is None else now - before
