"""`steelyard train`: learn files, show progress, save the model."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from steelyard import _atomic_files, model_file
from steelyard._messages import counted
from steelyard._parameters import Message
from steelyard.cli import cluster, options, resuming, train_report
from steelyard.cli.common import check_outputs, printer, seconds_since_start, tell
from steelyard.cli.grouped_help import MOST_USED, GroupedCommand
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.options import given_names
from steelyard.cli.options.learning import LEARNING, LearnOptions
from steelyard.cli.options.running import RUNNING
from steelyard.cli.resuming import SCHEDULE, Checkpoints
from steelyard.engine import holdout, protocol
from steelyard.engine.file_training import FileTraining, begin, resume
from steelyard.engine.passes import LearnedPiece
from steelyard.engine.run_options import KEPT_BY_CHECKPOINTS, RunOptions
from steelyard.io import sources
from steelyard.io.errors import InputError
from steelyard.io.read_options import ReadOptions
from steelyard.model_file import ModelFile

CHECKPOINT = ".checkpoint"  # behind the name of the model
_MOST_USED = (
    "output", "label", "weight", "text", "classes", "loss", "passes", "shuffle", "holdout", "resume", "on_error",
    "as_json",
)  # fmt: skip


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
        kept_aside = holdout.parse(given["holdout"], given["seed"])
        counted_rows = given["positives"] is not None
        if seeded and not (given["shuffle"] or counted_rows or isinstance(kept_aside, holdout.Share)):
            raise InputError(
                "--seed is for --shuffle, or for a share in --holdout: give one of these, or leave out --seed"
            )
        held_out = kept_aside is not None or given["resume"] is not None
        decided = {
            "calibrate": bool(given["calibrate"]) and held_out,
            "calibrate_progressively": given["calibrate"] is not False,
            "holdout": kept_aside,
            "shuffle": given["seed"] if given["shuffle"] or (seeded and counted_rows) else None,
        }
        same = ("class_weight", "output", "resume", "checkpoint_every", *SCHEDULE)
        return cls(
            read=options.read_options(given),
            learn=LearnOptions.from_given(given),
            run=options.run_options(given | decided),
            given=given_names(ctx),
            task=options.task(given),
            **{name: given[name] for name in same},
        )

    @property
    def checkpoint(self) -> Path | None:
        return None if self.output is None else self.output.with_name(self.output.name + CHECKPOINT)


@click.command(cls=GroupedCommand, headings={MOST_USED: _MOST_USED}, epilog=EXAMPLES["train"])
@options.FILES
@options.READING
@options.COUNTS
@options.TASK
@options.CLASS_WEIGHT
@options.WEIGHT_SCALE
@LEARNING
@RUNNING
@cluster.OPTIONS
@options.THREADS
@options.ON_ERROR
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Learn files in order, show progress, save the model.

    A row of weight h is learned as exactly h consecutive copies of it. A FILE may be Vowpal Wabbit text,
    svmlight, CSV, TSV, Excel, JSON lines, Parquet or Arrow, plain or compressed (gz, xz, bz2, zst); give
    several, a pattern, or - for standard input. Labels may be numbers, two classes or more.

    The table shows the progressive loss: the average loss of predictions made before their row was learned.
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

            def after_piece(learned: LearnedPiece) -> None:
                watcher(learned)
                checkpoints.after_piece(learned)

            training.run(after_piece)
        seconds = time.perf_counter() - began
        if wanted.output is not None and wanted.checkpoint is not None:
            training.save(wanted.output)
            _atomic_files.remove(wanted.checkpoint)
        result = train_report.summarise(training, seconds=seconds, startup=startup, output=wanted.output)
        return result | {"held_out": train_report.evaluate_held_out(training, wanted.output, given)}


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
        resuming.check_kept(wanted.given, wanted.learn.loss, wanted.resume)
        started = model_file.load(wanted.resume, options.own_loss(wanted.learn.loss))
    training = cluster.begin(paths, given, wanted.run, started, wanted.checkpoint)
    return cluster.run(training, given, wanted.output, say if table else None)


def _prepare(paths: list[str], wanted: TrainOptions) -> tuple[FileTraining, list[str]]:
    """The training, and lines about what was decided without being asked."""
    if wanted.resume is None:
        training = begin(
            paths,
            wanted.read,
            wanted.run,
            wanted.learn.settings_for,
            task=wanted.task,
            class_weight=wanted.class_weight,
            warn=lambda text, kind: tell(Message("note: ", text)),
        )
        training.loss_inferred = wanted.learn.loss is None and wanted.task is None
        return training, train_report.announce(training, wanted.given)
    resuming.check_kept(wanted.given, wanted.learn.loss, wanted.resume)
    run_options = [name for name in KEPT_BY_CHECKPOINTS if name in wanted.given]
    stored, engine = protocol.load(wanted.resume, options.own_loss(wanted.learn.loss))
    training = resume(stored, wanted.resume, paths, wanted.run, run_options, engine=engine)
    schedule = {name: getattr(wanted, name) for name in SCHEDULE if name in wanted.given}
    if schedule:
        resuming.change_schedule(training, schedule, wanted.resume)
    if stored.run is not None:
        passes, rows = training.loop.position
        where = f"after {counted(rows, 'row')} of pass {passes + 1}"
        return training, [f"resuming {wanted.resume} {where}"]
    clock, settings = next(training.engine.each_model()).clock, training.engine.settings[0]
    said = f"resuming {wanted.resume} after a total weight of {clock:g}; loss and weight continue from there"
    changed = [
        f"learning rate {settings.rate:g}, power_t {settings.power_t:g}, initial_t {settings.initial_t:g}"
    ]
    return training, [said, *(changed if schedule else [])]
