"""`steelyard train`: learn files, show progress, save the model."""

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from steelyard import _atomic_files, losses, model_file
from steelyard._messages import counted
from steelyard.cli import cluster, options, train_report
from steelyard.cli.checkpoints import Checkpoints
from steelyard.cli.common import check_outputs, printer, seconds_since_start
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice, RateOrAuto
from steelyard.cli.options import LearnOptions, given_names, option_name
from steelyard.cli.options import options as several
from steelyard.engine.file_training import FileTraining, begin, resume
from steelyard.engine.passes import Learned
from steelyard.engine.run_options import KEPT_BY_CHECKPOINTS, RunOptions
from steelyard.io import sources
from steelyard.io.errors import InputError
from steelyard.io.read_options import ReadOptions
from steelyard.model import (
    DEFAULT_AVERAGE,
    DEFAULT_RATE,
    DTYPES,
    L2_FLOWS,
    MOST_AVERAGE,
    RATES,
    SCALINGS,
    STEPS_OF_AVERAGES,
    Settings,
)
from steelyard.model_file import ModelFile
from steelyard.schedules import AUTO
from steelyard.updates import names as update_names

_DEFAULT = Settings()
CHECKPOINT = ".checkpoint"  # behind the name of the model


def _setting(name: str, kind: Any, text: str) -> Any:
    """An option for a setting of the learner, with the learner's default."""
    default = getattr(_DEFAULT, name)
    return click.option(
        f"--{name.replace('_', '-')}", type=kind, default=default, show_default=default is not None, help=text
    )


def _rates() -> str:
    """The default rates: every loss has its own for scale-free rates."""
    own = ", ".join(f"{name} {Settings(losses.by_name(name)).rate:g}" for name in losses.names())
    less = f"{1 / STEPS_OF_AVERAGES:.2g} times that"
    return f"with standardized scaling the loss's own: {own}; normalized {less}; others {DEFAULT_RATE:g}"


_LEARNING = several(
    options.TASK,
    click.option(
        "--loss",
        help="A loss by name, or your own as module:Class.  "
        "[default: modified_huber for classes, squared for numbers]",
    ),
    options.loss_parameters(),
    _setting(
        "update",
        Choice(update_names()),
        "How a row changes the model; all but explicit are safe for large weights.",
    ),
    _setting(
        "scaling",
        Choice(SCALINGS),
        "How the learning rate depends on the feature: standardized, normalized and adaptive adapt it to "
        "each (standardized also finds units for counts and columns of numbers), row_norm to the length of "
        "the row, plain not at all.",
    ),
    _setting(
        "learning_rate",
        RateOrAuto(),
        "The learning rate at the start; auto learns with five, which answer together.  "
        f"[default: {_rates()}]",
    ),
    _setting("initial_t", float, "The weight learned after which the rate begins to fall."),
    _setting("power_t", float, "How fast the rate falls; 0: not at all."),
    _setting("l1", float, "L1 regularisation."),
    _setting("l2", float, "L2 regularisation."),
    _setting(
        "l2_flow",
        Choice(L2_FLOWS),
        "split: apply L2 after each row; joint: as part of its update, exact for weights but slower.",
    ),
    _setting(
        "average",
        click.IntRange(0, MOST_AVERAGE),
        "Predict with an average of the coefficients, in which the time t counts as t to this power; 0: with "
        f"the last.  [default: {DEFAULT_AVERAGE} with standardized scaling, else 0]",
    ),
    _setting(
        "rates",
        Choice(RATES),
        "row: the rates of adaptive scalings stand still in a row, so a weight is nearly as many copies; "
        "flow: they fall along the way, and it is exactly as many, but learning is a few times slower.",
    ),
    click.option("--bias/--no-bias", default=True, show_default=True, help="Whether to learn an intercept."),
    _setting("dtype", Choice(DTYPES), "The type of the coefficients."),
    options.CLASS_WEIGHT,
)

_RUNNING = several(
    click.option("-o", "--output", type=options.FILE_PATH, metavar="MODEL", help="Where to save the model."),
    options.FORCE,
    click.option(
        "--passes", type=click.IntRange(1), default=1, show_default=True,
        help="How often to go through the files; with standardized scaling, the kth time at the rate / k².",
    ),
    click.option(
        "--shuffle", is_flag=True,
        help="Learn the rows in random order, another in every pass: for files sorted by label. All rows are "
        "read first, into memory, or into temporary files if they are larger than 2 GiB.",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Seed of --shuffle, and of the order in which rows with --count are learned."),
    click.option(
        "--holdout", type=click.IntRange(2), metavar="N",
        help="Do not learn every Nth row; report the loss on these rows."
    ),
    click.option(
        "--early-stopping", is_flag=True,
        help="Stop when the rows held out were predicted no better for three passes, and keep the best "
        "pass; --passes is the most. Needs --holdout.",
    ),
    click.option(
        "--calibrate/--no-calibrate", default=None,
        help="Fit the probabilities of the classes to predictions of the first pass, made before their row "
        "was learned; --holdout N --calibrate fits them to rows held out, and reads the files once more.  "
        "[default: calibrate, to the first pass]",
    ),
    click.option(
        "--resume", type=options.FILE_PATH, metavar="MODEL",
        help="Continue a model, or an interrupted run from its checkpoint. A model may go on with another "
        "--learning-rate, --initial-t or --power-t.",
    ),
    click.option(
        "--checkpoint-every", type=click.IntRange(1), metavar="ROWS",
        help="Save MODEL.checkpoint every ROWS rows; removed when the run succeeds.",
    ),
    cluster.OPTIONS,
    options.WEIGHT_SCALE,
    options.THREADS,
    options.ON_ERROR,
    options.JSON,
)  # fmt: skip

# What a model decides by itself when it is resumed; its schedule may change.
_SCHEDULE = ("learning_rate", "initial_t", "power_t")
_KEPT_BY_A_MODEL = {
    "update", "scaling", "l1", "l2", "l2_flow", "average", "rates", "bias", "dtype", "class_weight", "label",
    "weight", "propensity", "count", "positives", "offset", "tag", "text", "category", "number", "ignore",
    "encoding", "separator", "header", "words", "characters", "repeated", "loss", "bits", "interactions",
    "labels", "classes", "quadratic", "keep", "ngram", "skips", "format_", "weight_factor", "weight_scale",
    "names",
    *options.loss_parameter_names(),
}  # fmt: skip


@dataclass(frozen=True)
class TrainOptions:
    """The options of `train`, typed; `given` names those that the user has set."""

    read: ReadOptions
    learn: LearnOptions
    run: RunOptions
    class_weight: Any
    learning_rate: float | str | None
    initial_t: float
    power_t: float
    task: str | None
    output: Path | None
    resume: Path | None
    checkpoint_every: int | None
    given: set[str]

    @classmethod
    def from_given(cls, ctx: click.Context, given: dict[str, Any]) -> "TrainOptions":
        if given["checkpoint_every"] is not None and given["output"] is None:
            raise InputError("--checkpoint-every needs a model to save: -o MODEL")
        if given["early_stopping"] and given["checkpoint_every"] is not None:
            raise InputError("--early-stopping keeps the best models in memory: leave out --checkpoint-every")
        if given["calibrate"] is False and given["resume"] is not None:
            raise InputError("a model keeps its calibration when it is resumed: leave out --no-calibrate")
        seeded = "seed" in given_names(ctx)
        if seeded and not (given["shuffle"] or given["positives"] is not None):
            raise InputError("--seed is the seed of --shuffle: give both, or neither")
        held_out = given["holdout"] is not None or given["resume"] is not None
        calibration = {
            "calibrate": bool(given["calibrate"]) and held_out,
            "calibrate_progressively": given["calibrate"] is not False,
        }
        same = ("class_weight", "output", "resume", "checkpoint_every", *_SCHEDULE)
        return cls(
            read=options.read_options(given),
            learn=LearnOptions.from_given(given),
            run=options.run_options(
                given | calibration | {"shuffle": given["seed"] if given["shuffle"] or seeded else None}
            ),
            given=given_names(ctx),
            task=options.task(given),
            **{name: given[name] for name in same},
        )

    @property
    def checkpoint(self) -> Path | None:
        return None if self.output is None else self.output.with_name(self.output.name + CHECKPOINT)


@click.command(epilog=EXAMPLES["train"])
@options.FILES
@options.READING
@options.COUNTS
@_LEARNING
@_RUNNING
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Learn files in order, show progress, save the model.

    A row of weight h counts as h copies of it that follow each other: nearly (about 1 % apart) by default,
    exactly with --rates flow, or with --scaling plain or row_norm. A FILE may be Vowpal Wabbit text,
    svmlight, CSV, TSV, JSON lines, Parquet or Arrow, plain or compressed (gz, xz, bz2, zst); several, a
    pattern, or - for standard input. Labels may be numbers, two classes or more.

    The table shows the progressive loss: the average loss of predictions that were made before
    their row was learned.
    """
    result = run(ctx, files, given, table=not given["as_json"])
    say = printer(keeps=given["output"] is not None)
    report = train_report if given["cluster"] is None else cluster
    say(json.dumps(result) if given["as_json"] else report.text(result))


def run(ctx: click.Context, files: tuple[str, ...], given: dict[str, Any], *, table: bool) -> dict[str, Any]:
    """Learn, and save the model; returns the summary."""
    from steelyard.cli import progress

    with options.errors():
        wanted = TrainOptions.from_given(ctx, given)
        paths = sources.expand(files)
        check_outputs([wanted.output], paths, force=given["force"])
        cluster.check(given)
        if given["cluster"] is not None:
            return _run_on_cluster(paths, wanted, given, table=table)
        training, announcements = _prepare(paths, wanted)
        training.check_calibration()
        if given["calibrate"] and not training.classes:
            raise InputError("--calibrate is for classes, and the labels are numbers")
        training.warm_up()
        startup = seconds_since_start()
        began = time.perf_counter()
        say = printer(keeps=wanted.output is not None)
        if table:
            say("\n".join([*announcements, ""]))
        checkpoints = Checkpoints(training, wanted.checkpoint, wanted.checkpoint_every)
        with checkpoints.told_when_interrupted(), progress.bar(progress.Rates()) as bar:
            watcher = progress.Watcher(training, bar, table=table, say=say)

            def after_piece(learned: Learned) -> None:
                watcher(learned)
                checkpoints.after_piece(learned)

            training.run(after_piece)
        seconds = time.perf_counter() - began
        if wanted.output is not None and wanted.checkpoint is not None:
            training.save(wanted.output)
            _atomic_files.remove(wanted.checkpoint)
    return train_report.summarise(training, seconds=seconds, startup=startup, output=wanted.output)


def _run_on_cluster(
    paths: list[str], wanted: TrainOptions, given: dict[str, Any], *, table: bool
) -> dict[str, Any]:
    say = printer(keeps=wanted.output is not None)
    started: FileTraining | ModelFile
    if wanted.resume is None:
        started, announcements = _prepare(paths, wanted)
        if table:
            say("\n".join([*announcements, ""]))
    else:
        _check_kept(wanted, wanted.resume)
        started = model_file.load(wanted.resume, options.own_loss(wanted.learn.loss))
    training = cluster.begin(paths, given, wanted.run, started, wanted.checkpoint)
    return cluster.run(training, given["cluster"], wanted.output, say if table else None)


def _prepare(paths: list[str], wanted: TrainOptions) -> tuple[FileTraining, list[str]]:
    """The training, and what was decided without being asked."""
    if wanted.resume is None:
        training = begin(
            paths,
            wanted.read,
            wanted.run,
            wanted.learn.settings_for,
            task=wanted.task,
            class_weight=wanted.class_weight,
        )
        training.loss_inferred = wanted.learn.loss is None and wanted.task is None
        return training, train_report.announce(training, wanted.given)
    _check_kept(wanted, wanted.resume)
    stored = model_file.load(wanted.resume, options.own_loss(wanted.learn.loss))
    run_options = [name for name in KEPT_BY_CHECKPOINTS if name in wanted.given]
    training = resume(stored, wanted.resume, paths, wanted.run, run_options)
    schedule = {name: getattr(wanted, name) for name in _SCHEDULE if name in wanted.given}
    if schedule:
        _change_schedule(training, schedule, wanted.resume)
    if stored.run is not None:
        passes, rows = training.loop.position
        where = f"after {counted(rows, 'row')} of pass {passes + 1}"
        return training, [f"resuming {wanted.resume} {where}"]
    clock, settings = training.engine.models()[0].clock, training.engine.settings[0]
    said = f"resuming {wanted.resume} after a total weight of {clock:g}; loss and weight continue from there"
    changed = [
        f"learning rate {settings.rate:g}, power_t {settings.power_t:g}, initial_t {settings.initial_t:g}"
    ]
    return training, [said, *(changed if schedule else [])]


def _check_kept(wanted: TrainOptions, path: Path) -> None:
    """Whether nothing was said that a model decides by itself."""
    kept = wanted.given & _KEPT_BY_A_MODEL
    if wanted.learn.loss is not None and ":" in wanted.learn.loss:
        kept -= {"loss"}  # a loss of the user's own is needed to load the model
    if kept:
        listed = ", ".join(map(option_name, sorted(kept)))
        raise InputError(f"--resume goes on with the settings of {path}: leave out {listed}")


def _change_schedule(training: FileTraining, schedule: dict[str, Any], path: Path) -> None:
    """The same models go on at another rate."""
    listed = ", ".join(map(option_name, schedule))
    if training.resumed_from is not None and training.resumed_from.run is not None:
        raise InputError(f"{path} is the checkpoint of a run, which goes on as it began: leave out {listed}")
    settings = training.engine.settings
    if len(settings) > 1 or schedule.get("learning_rate") == AUTO:
        raise InputError(
            "--learning-rate auto is for a run that begins, and goes on with all its rates: leave out "
            + listed
        )
    training.use(training.engine.with_settings([replace(settings[0], **schedule)]))
