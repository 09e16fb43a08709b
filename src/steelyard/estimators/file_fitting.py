"""Estimators that learn files: the same training as `steelyard train`, with an estimator's parameters."""

import copy
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from steelyard import weight_summary
from steelyard.engine import class_weights, file_training, holdout, protocol
from steelyard.engine.file_labels import CLASSES, NUMBERS
from steelyard.engine.file_training import FileTraining
from steelyard.engine.passes import LearnedPiece
from steelyard.engine.protocol import Engine
from steelyard.engine.run_options import RunOptions
from steelyard.engine.totals import RowOrderWarning
from steelyard.estimators import fit_passes, saving
from steelyard.estimators.fitted import FittedState, fitted_state, set_state, state_of
from steelyard.estimators.online import AS_GIVEN, warn_of_scale
from steelyard.estimators.parameters import settings_of
from steelyard.io import sources
from steelyard.io.input_spec import InputSpec
from steelyard.io.read_options import ReadOptions
from steelyard.scoring.absent_columns import AbsentColumnsWarning
from steelyard.scoring.file_scores import FileScores, ScoringOptions
from steelyard.scoring.loaded_model import with_text
from steelyard.scoring.scores import Meaning
from steelyard.settings import Settings

Paths = str | Path | Sequence[str | Path]
CHECKPOINT_EVERY = 1_000_000  # rows, by default


@dataclass(frozen=True)
class FileOptions:
    """The options of methods for files, beside those of reading."""

    holdout: int | float | None
    on_error: str
    threads: int | None
    checkpoint: str | Path | None
    checkpoint_every: int | None
    verbose: int
    shuffle: bool = False

    def run_options(
        self,
        passes: int,
        *,
        calibrate: bool = False,
        calibrate_progressively: bool = True,
        weight_scale: str = "as_given",
        seed: Any = None,
        early_stopping: bool = False,
    ) -> RunOptions:
        if self.checkpoint_every is not None and self.checkpoint is None:
            raise ValueError("checkpoint_every needs the name of a file: checkpoint='run.checkpoint'")
        if self.on_error not in ("stop", "skip"):
            raise ValueError(f"on_error must be 'stop' or 'skip'; got {self.on_error!r}")
        if early_stopping and self.holdout is None:
            raise ValueError("early_stopping of files needs rows held out: holdout=10, say")
        if early_stopping and self.checkpoint is not None:
            raise ValueError("early_stopping keeps the best models in memory: leave out checkpoint")
        if self.shuffle and not isinstance(seed, Integral):
            raise ValueError(f"shuffle=True of files needs a number as random_state, its seed; got {seed!r}")
        return RunOptions(
            passes, holdout.parse(self.holdout, int(seed) if isinstance(seed, Integral) else 0),
            self.threads, self.on_error == "skip",
            calibrate, calibrate_progressively, weight_scale, int(seed) if self.shuffle else None,
            early_stopping,
        )  # fmt: skip

    def remove_checkpoint(self) -> None:
        if self.checkpoint is not None:
            Path(self.checkpoint).unlink(missing_ok=True)


def fit(
    estimator: Any,
    paths: Paths,
    options: FileOptions,
    read_options: dict[str, Any],
    *,
    calibrate: bool = False,
) -> None:
    check_parameters(estimator)
    expanded = expand(paths)
    run = options.run_options(
        fit_passes.in_files(estimator),
        calibrate=calibrate,
        calibrate_progressively=getattr(estimator, "calibrate", False),
        weight_scale=estimator.weight_scale,
        seed=estimator.random_state,
        early_stopping=estimator.early_stopping,
    )
    training = _interrupted(options, expanded, run, settings_of(estimator, None))
    if training is None:
        training = file_training.begin(
            expanded,
            reading(read_options, estimator),
            run,
            lambda inferred: settings_of(estimator, None),
            task=CLASSES if is_classifier(estimator) else NUMBERS,
            class_weight=getattr(estimator, "class_weight", None),
            warn=lambda text, kind: warnings.warn(text, kind, stacklevel=5),
        )
    training.check_calibration()
    _run(training, options)
    take_over(estimator, training)
    weight_summary.warn(estimator.weight_summary_, stacklevel=4)
    first = training.files.first_weights
    if first is not None and training.files.factor != 1.0:
        warn_of_scale(first.scale_warning(AS_GIVEN, training.files.factor), stacklevel=4)
    _warn_of_order(training)
    options.remove_checkpoint()


def reading(given: dict[str, Any], owner: Any, *learners: Any) -> ReadOptions:
    """Options of reading from the other keyword arguments of `owner.fit_files`; `learners` are what it fits."""
    method = inspect.signature(type(owner).fit_files).parameters.values()
    others = [each.name for each in method if each.kind == inspect.Parameter.KEYWORD_ONLY]
    for name, value in given.items():
        for each in (owner, *learners):
            if name in each.get_params(deep=False) and not hasattr(ReadOptions, name):
                kind = type(each).__name__
                raise TypeError(f"{name!r} is a parameter of the constructor: {kind}({name}={value!r})")
    return ReadOptions.from_keywords(others, **given)


def partial_fit(estimator: Any, paths: Paths, options: FileOptions, read_options: dict[str, Any]) -> None:
    if getattr(estimator, "class_weight", None) == class_weights.BALANCED:
        raise ValueError(
            "class_weight='balanced' needs all the labels, and partial_fit_files sees some of them: "
            "give the weights as a dict, {class: weight}"
        )
    state = state_of(estimator)
    if state is None:
        once = copy.copy(estimator).set_params(passes=1, early_stopping=False)
        fit(once, paths, options, read_options)
        vars(estimator).update(
            {name: value for name, value in vars(once).items() if name.endswith("_") or name.startswith("_")}
        )
        return
    if read_options:
        raise ValueError(
            f"{', '.join(read_options)}: later files are read as the first ones were; leave this out"
        )
    check_parameters(estimator)
    expanded, run = expand(paths), options.run_options(1, seed=estimator.random_state)
    settings = settings_of(estimator, state.engine.settings)
    training = _interrupted(options, expanded, run, settings)
    if training is None:
        engine = copy.deepcopy(state.engine)
        content = saving.describe(estimator, engine)
        content.names = copy.deepcopy(content.names)
        training = file_training.resume(content, "the estimator", expanded, run, engine=engine)
        training.totals.weights = estimator.weight_summary_
    if settings != training.engine.settings:
        training.use(training.engine.with_settings(settings))
    _run(training, options)
    before, n_iter = estimator.weight_summary_, estimator.n_iter_
    take_over(estimator, training)
    estimator.n_iter_ = n_iter
    weight_summary.warn(estimator.weight_summary_, before, stacklevel=4)
    options.remove_checkpoint()


def _interrupted(
    options: FileOptions, paths: list[str], run: RunOptions, settings: list[Settings]
) -> FileTraining | None:
    """Return the run of the checkpoint, if there is one."""
    if options.checkpoint is None or not Path(options.checkpoint).exists():
        return None
    stored, engine = protocol.load(options.checkpoint, settings[0].loss)
    if stored.run is None:
        raise ValueError(f"{options.checkpoint}: is a finished model, not a checkpoint; name another file")
    return file_training.resume(stored, options.checkpoint, paths, run, engine=engine)


def predict(
    estimator: Any, paths: Paths, text: str | None, on_error: str, threads: int | None
) -> NDArray[np.float64]:
    """Return w·x of each row of the files, which are read like the estimator's own; labels are not needed."""
    engine = fitted_state(estimator).engine
    if not hasattr(estimator, "input_spec_"):
        raise ValueError(
            "the estimator was fitted to rows and does not know how files are read: use predict(X)"
        )
    model = _Fitted(engine, estimator.input_spec_)
    if text is not None:
        model = _Fitted(engine, with_text(model.learned, text, model.name))
    run = FileOptions(None, on_error, threads, None, None, 0).run_options(1)
    scored = FileScores(model, expand(paths), ScoringOptions(run), _warn_of_columns)
    reader = scored.spec.reader()
    parts = [engine.predict(reader.parse(reader.nothing()).examples)]  # no rows, of the right width
    return np.concatenate([*parts, *(block.scores.raw for block in scored)])


@dataclass(frozen=True)
class _Fitted:
    """An estimator as a model that scores files."""

    engine: Engine
    learned: InputSpec
    name: str = "the estimator"

    @property
    def meaning(self) -> Meaning:
        return Meaning(self.engine.settings[0].loss)

    def spec(self) -> InputSpec:
        return self.learned


def _warn_of_columns(text: str) -> None:
    warnings.warn(text, AbsentColumnsWarning, stacklevel=9)


def take_over(estimator: Any, training: FileTraining) -> None:
    """Give the estimator the models and the figures of a run."""
    progressive = training.progressive_calibration if training.held_out_calibration is None else None
    set_state(
        estimator, FittedState(training.engine, training.names, progressive, training.held_out_calibration)
    )
    estimator.n_features_in_ = training.engine.features
    estimator.n_iter_ = len(training.held_out_losses) or training.run_options.passes
    estimator.weight_summary_ = training.totals.weights
    estimator.input_spec_ = training.spec_with_factor()
    estimator.weight_factor_ = estimator.input_spec_.weight_factor
    vars(estimator).pop("feature_names_in_", None)
    if training.class_names is not None:
        estimator.classes_ = training.class_names
    held = training.loop.held_out
    if held.weight > 0.0:
        best = training.engine.best
        estimator.held_out_loss_ = float(held.loss[best]) / held.weight
        if training.class_names is not None:
            estimator.held_out_error_ = float(held.error[best]) / held.weight
    vars(estimator).pop("validation_losses_", None)
    if training.held_out_losses:
        estimator.validation_losses_ = np.array(training.held_out_losses)


def _run(training: FileTraining, options: FileOptions) -> None:
    rows = last = 0

    def after_piece(learned: LearnedPiece) -> None:
        nonlocal rows, last
        rows += len(learned.examples)
        show(training.loop.rows.share)
        if options.checkpoint is not None and rows - last >= (options.checkpoint_every or CHECKPOINT_EVERY):
            last = rows
            training.save_checkpoint(options.checkpoint)

    with _bar(options.verbose) as show:
        training.run(after_piece)


@contextmanager
def _bar(verbose: int) -> Iterator[Callable[[float], None]]:
    if not verbose:
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("learning", total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _warn_of_order(training: FileTraining) -> None:
    """Warn of rows sorted by label, for classes only: neighbouring numbers may well be alike."""
    if training.classes:
        for text in training.totals.order_warnings("fit_files(…, shuffle=True) learns them in random order"):
            warnings.warn(text, RowOrderWarning, stacklevel=5)


def check_parameters(estimator: Any) -> None:
    if estimator.weight_scale == "mean_one":
        raise ValueError(
            f"weight_scale={estimator.weight_scale!r} is not for files: "
            "multiply their weights by weight_factor"
        )


def expand(paths: Paths) -> list[str]:
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    if hasattr(paths, "columns") or not all(isinstance(path, str | Path) for path in listed):
        raise TypeError(
            f"files are named by paths, or a list of them; got {type(paths).__name__}: use fit(X, y)"
        )
    return sources.expand(listed)
