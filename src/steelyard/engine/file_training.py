"""`FileTraining`: an engine that learns files, from the options of a user to the model file.

It is behind `steelyard train`, `fit_files`, `partial_fit_files` and the winners of sweeps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import model_file
from steelyard._array_types import Floats
from steelyard.engine import (
    class_weights,
    file_checkpoints,
    file_labels,
    held_out_calibration,
    joined_labels,
    memory_needs,
    progressive_calibration,
)
from steelyard.engine.calibration import Calibration
from steelyard.engine.class_weights import ClassWeight
from steelyard.engine.file_labels import Labels
from steelyard.engine.file_rows import FileRows, spec_of
from steelyard.engine.holdout import Holdout
from steelyard.engine.joined_labels import JoinedLabelsWarning
from steelyard.engine.memory_needs import LargeModelWarning
from steelyard.engine.passes import LearnedPiece, PassLoop
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.engine.protocol import Engine, new_engine, restore
from steelyard.engine.run_options import KEPT_BY_CHECKPOINTS, RunOptions
from steelyard.engine.totals import StreamTotals
from steelyard.engine.training_record import TrainingRecord
from steelyard.features import Names
from steelyard.io import compatibility, inference
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.read_options import ReadOptions
from steelyard.losses import Loss
from steelyard.model_file import ModelFile
from steelyard.settings import Settings


@dataclass
class FileTraining:
    """`begin` and `resume` make one; `run` learns; `save` writes the model file."""

    files: FileRows
    engine: Engine
    spec: InputSpec
    """How the files of the model are read; it is stored in the model file."""
    run_options: RunOptions
    class_names: NDArray[Any] | None = None
    class_weight: ClassWeight = None
    totals: StreamTotals = field(default_factory=StreamTotals)
    loss_inferred: bool = False
    first_labels: Sequence[str] = ()
    """The distinct labels of the first rows, in a new run."""
    resumed_from: ModelFile | None = None
    held_out_calibration: Calibration | None = None
    """Fitted to rows held out, in this run or an earlier one; it does not change any more."""
    progressive_calibration: ProgressiveCalibration | None = None
    before: tuple[Floats, Floats] = field(default_factory=lambda: (np.zeros(1), np.zeros(1)))
    """Sums of losses and weights when the run began: above 0 if it continues another."""
    record: TrainingRecord = field(default_factory=TrainingRecord)
    held_out_losses: list[float] = field(default_factory=list)
    """With early stopping: the loss on the rows held out, after each pass."""

    def __post_init__(self) -> None:
        self.record.add_files(self.files.paths, self.run_options.holdout)
        options = self.run_options
        self.loop = PassLoop(
            self.engine,
            self.files.rows(options.holdout, in_passing=True)
            if options.shuffle is None and not self.spec.counted
            else self.files.shuffled(options.shuffle or 0, options.holdout),
            options.passes,
            predictions=True,
            calibration=self.progressive_calibration,
        )

    @property
    def calibration(self) -> Calibration | None:
        """The sigmoids that turn predictions into probabilities; None if the loss gives them."""
        if self.held_out_calibration is not None or self.progressive_calibration is None:
            return self.held_out_calibration
        return self.progressive_calibration.sigmoids(self.engine.shares)

    @property
    def loss(self) -> Loss:
        return self.engine.settings[0].loss

    @property
    def classes(self) -> int:
        return 0 if self.class_names is None else len(self.class_names)

    @property
    def names(self) -> Names | None:
        return self.files.names

    def use(self, engine: Engine) -> None:
        """Continue with another engine, which has the models of this one."""
        self.engine = self.loop.engine = engine

    def warm_up(self) -> None:
        """Load the kernels by learning no rows, so that loading does not count as learning time."""
        reader = self.files.spec.reader(self.names)
        nothing = reader.parse(reader.nothing()).examples
        predictions = self.engine.learn(nothing, predictions=True)
        assert predictions is not None
        self.engine.row_losses(predictions, nothing.labels)

    def run(self, after_piece: Callable[[LearnedPiece], None] | None = None) -> None:
        """Learn all passes that are left, and calibrate."""

        def watch(learned: LearnedPiece) -> None:
            if learned.pass_number == 0:
                self.totals.add(learned.examples)
                self.record.add(learned, self.engine)
            if after_piece is not None:
                after_piece(learned)

        if self.run_options.early_stopping:
            self.held_out_losses = self.loop.run_until_best(self._held_out_loss, watch)
            self.engine = self.loop.engine
        else:
            self.loop.run(watch)
        self.record.finish(self.engine)
        if self.files.stream is None:  # nothing was left to do
            self.files.open()
        if self.totals.learned == 0 and all(model.clock == 0.0 for model in self.engine.each_model()):
            assert self.files.first_stream is not None
            raise self.files.first_stream.empty(
                f"{', '.join(self.files.paths)}: no row has a label and a weight, so nothing was learned"
            )
        if self.run_options.calibrate:
            self.held_out_calibration = held_out_calibration.fit(
                self.engine, self.files, self.run_options.holdout, self.classes
            )

    def _held_out_loss(self) -> float:
        held = self.loop.held_out
        if held.weight == 0.0:
            raise InputError("no row with a label and a weight was held out to decide when to stop")
        return float(held.loss[self.engine.best]) / held.weight

    def check_calibration(self) -> None:
        """Check that there will be rows to calibrate on, before anything is learned."""
        if self.run_options.calibrate:
            held_out_calibration.check(self.files, self.run_options.holdout, self.classes)

    def content(self, *, checkpoint: bool = False) -> ModelFile:
        """Return the content of a model file, or of a checkpoint, which also has the position of the run.

        It does not depend on how the files were cut into blocks.
        """
        content = ModelFile(
            self.engine.state(),
            spec=self.spec_with_factor().as_json(),
            names=self.names,
            class_names=self.class_names,
            parameters=dict(self.resumed_from.parameters) if self.resumed_from is not None else {},
            estimator=None if self.resumed_from is None else self.resumed_from.estimator,
            n_iter=len(self.held_out_losses) or self.run_options.passes,
            calibration=self.calibration,
            training=self.record.as_json(),
        )
        if self.progressive_calibration is not None and self.held_out_calibration is None:
            content.progressive_calibration = self.progressive_calibration.arrays()
        if self.class_weight is not None:
            content.parameters["class_weight"] = class_weights.as_json(self.class_weight)
        if checkpoint:
            content.run = file_checkpoints.as_json(self)
            content.run_arrays = dict(self.totals.labels.arrays())
        return content

    def spec_with_factor(self) -> InputSpec:
        """Return how further files are read: with the factor that was found for the weights of these."""
        return replace(self.spec, weight_factor=self.spec.weight_factor * self.files.factor)

    def save(self, path: str | Path) -> None:
        model_file.save(path, self.content())

    def save_checkpoint(self, path: str | Path) -> None:
        model_file.save(path, self.content(checkpoint=True))


def begin(
    paths: Sequence[str],
    read: ReadOptions,
    run: RunOptions,
    settings_for: Callable[[str], list[Settings]],
    *,
    task: str | None = None,
    class_weight: ClassWeight = None,
    warn: Callable[[str, type[UserWarning]], None] = lambda text, kind: None,
) -> FileTraining:
    """Begin a training with a new engine; whatever the options leave open is inferred from the first rows.

    `settings_for` makes the settings, given the name of the loss that fits the labels. `task` says whether labels
    are classes or numbers; without it the loss decides. `warn` gets warnings before memory is taken and anything
    is learned.
    """
    run.check(paths)
    spec, first = read.infer(paths, settings_for(inference.TWO_CLASSES)[0].dtype)
    settings = settings_for(file_labels.infer_loss(spec, first, read.label_names, task))
    loss = settings[0].loss
    labels = file_labels.infer_labels(paths, spec, first, loss, named=read.label_names, task=task)
    if labels.class_names is not None:
        written = first if read.label_names else labels.class_names.tolist()
        for text in joined_labels.advice(list(map(str, written)), read.label_names):
            warn(text, JoinedLabelsWarning)
    for text in memory_needs.advice(settings, labels.classes, spec.bits):
        warn(text, LargeModelWarning)
    training = start(
        paths, replace(spec, label_rule=labels.rule), settings, labels, run, read.names, class_weight
    )
    training.first_labels = first
    return training


def start(
    paths: Sequence[str],
    spec: InputSpec,
    settings: Sequence[Settings],
    labels: Labels,
    run: RunOptions,
    names: bool = True,
    class_weight: ClassWeight = None,
) -> FileTraining:
    """Begin a training with a new engine for files whose labels and columns are known."""
    labels = file_labels.with_original_names(labels, spec)
    if labels.class_names is not None:
        class_weight = class_weights.with_names_of(class_weight, labels.class_names.tolist())
        settings = [replace(each, follow_labels=False) for each in settings]
    loss = settings[0].loss
    files = _file_rows(
        paths, spec, run, loss, labels, class_weight, Names(spec.features) if names else None,
        spec.weight_scale(run.weight_scale),
    )  # fmt: skip
    engine = new_engine(settings, labels.classes, spec.features)
    except_for = spec.features_with_own_units()
    if except_for is not None:
        engine.fix_units(except_for)
    training = FileTraining(
        files,
        engine,
        spec,
        run,
        class_names=labels.class_names,
        class_weight=class_weight,
        progressive_calibration=ProgressiveCalibration.begin(loss, len(settings), labels.classes)
        if run.calibrate_progressively and not run.calibrate and labels.classes
        else None,
    )
    training.before = engine.progress_sums()
    return training


def resume(
    stored: ModelFile,
    path: str | Path,
    paths: Sequence[str],
    run: RunOptions,
    given: Sequence[str] = KEPT_BY_CHECKPOINTS,
    *,
    engine: Engine | None = None,
) -> FileTraining:
    """Continue from a model file, or from the checkpoint of an interrupted run.

    `given` names the options of the run that the user has set: a checkpoint must agree with them. `engine` is that
    of the file, if it was read already.
    """
    spec = spec_of(stored, path)
    if stored.run is not None:
        run = file_checkpoints.options_of(stored.run, path, paths, run, given)
    run.check(paths)
    engine = restore(stored.engine) if engine is None else engine
    class_weight = class_weights.from_json(stored.parameters.get("class_weight"))
    labels = Labels(spec.label_rule, file_labels.class_names_of(stored, spec))
    own = compatibility.spec_for(spec, paths, str(path))
    if own.label_rule is not None:
        own = replace(own, label_rule=replace(own.label_rule, closed=True))
    files = _file_rows(paths, own, run, engine.settings[0].loss, labels, class_weight, stored.names)
    training = FileTraining(
        files,
        engine,
        spec,
        run,
        class_names=labels.class_names,
        class_weight=class_weight,
        resumed_from=replace(stored, engine=replace(stored.engine, models=[])),  # the engine has them
        held_out_calibration=None if stored.progressive_calibration else stored.calibration,
        progressive_calibration=progressive_calibration.load(stored, path, labels.classes),
        before=engine.progress_sums(),
        record=TrainingRecord.of(stored.training),
    )
    if stored.run is not None:
        file_checkpoints.restore_run(training, stored)
    return training


def _file_rows(
    paths: Sequence[str], spec: InputSpec, run: RunOptions, loss: Loss, labels: Labels,
    class_weight: ClassWeight, names: Names | None, weight_scale: str = "as_given",
) -> FileRows:  # fmt: skip
    """Return the rows to learn, with the factors of their classes."""
    files = FileRows(
        paths,
        spec,
        names=names,
        loss=loss if labels.classes <= 2 else None,
        threads=run.usable_threads,
        skip=run.skip_errors,
        weight_scale=weight_scale,
    )
    files.class_factors = class_factors(class_weight, labels, files, run.holdout)
    return files


def class_factors(
    class_weight: ClassWeight, labels: Labels, files: FileRows, held_out: Holdout
) -> NDArray[np.float64] | None:
    """Return the factor of each class; to balance classes in the rows to learn, the files are read once more."""
    class_weights.check(class_weight)
    if class_weight is None:
        return None
    if labels.class_names is None:
        raise InputError("class weights are for classes, and the labels are numbers")
    classes = labels.class_names.tolist()
    balanced = isinstance(class_weight, str)
    totals = files.class_totals(len(classes), held_out) if balanced else np.zeros(len(classes))
    return class_weights.factors(class_weights.with_names_of(class_weight, classes), classes, totals)
