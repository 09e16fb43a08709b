"""`steelyard train`: learn files, show how it goes, keep the model."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from steelyard import losses
from steelyard.cli import messages, options, summary
from steelyard.cli.choices import Choice
from steelyard.cli.clock import since_start
from steelyard.cli.options import options as several
from steelyard.model import DTYPES, L2_FLOWS, SCALINGS, UNTUNED_RATE, Settings
from steelyard.updates import names as update_names

_DEFAULT = Settings()
_MODEL = click.Path(dir_okay=False, path_type=Path)


def _setting(name: str, kind: Any, text: str) -> Any:
    """An option for a setting of the learner, with the learner's default."""
    default = getattr(_DEFAULT, name)
    return click.option(
        f"--{name.replace('_', '-')}", type=kind, default=default, show_default=default is not None, help=text
    )


def _rates() -> str:
    """The rate that is taken where none is given: every loss has its own for normalized scaling."""
    own = ", ".join(f"{name} {losses.by_name(name).default_learning_rate:g}" for name in losses.names())
    return f"with normalized scaling the loss's own: {own}; with others {UNTUNED_RATE:g}"


_LEARNING = several(
    click.option(
        "--loss",
        help="A loss by name, or your own as module:Class.  "
        "[default: modified_huber for two classes, else squared]",
    ),
    options.loss_parameters(),
    _setting("update", Choice(update_names()), "How a step is made."),
    _setting("scaling", Choice(SCALINGS), "What the rate is divided by."),
    _setting("learning_rate", float, f"The rate at the start.  [default: {_rates()}]"),
    _setting("initial_t", float, "Weighted examples after which the rate begins to fall."),
    _setting("power_t", float, "How fast the rate falls; 0: not at all."),
    _setting("l1", float, "L1 regularisation."),
    _setting("l2", float, "L2 regularisation."),
    _setting("l2_flow", Choice(L2_FLOWS), "L2 after each row, or exactly, as a part of its step."),
    click.option("--bias/--no-bias", default=True, show_default=True, help="A feature that every row has."),
    _setting("dtype", Choice(DTYPES), "Of the weights."),
)

_RUNNING = several(
    click.option("-o", "--output", type=_MODEL, metavar="MODEL", help="Where to keep the model."),
    click.option(
        "--passes", type=click.IntRange(1), default=1, show_default=True,
        help="How often to go through the files.",
    ),
    click.option(
        "--holdout", type=click.IntRange(2), metavar="N", help="Do not learn every Nth row; report its loss."
    ),
    click.option(
        "--resume", type=_MODEL, metavar="MODEL",
        help="Go on from a model, or from the checkpoint of a run that was cut short.",
    ),
    click.option(
        "--checkpoint-every", type=click.IntRange(1), metavar="ROWS",
        help="Keep MODEL.checkpoint that often; it goes when the run is through.",
    ),
    options.THREADS,
    options.ON_ERROR,
    options.JSON,
)  # fmt: skip


@click.command(epilog=options.EXAMPLES["train"])
@options.FILES
@options.READING
@_LEARNING
@_RUNNING
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Learn files in order, show how it goes, keep the model.

    A row of weight h counts as exactly h copies of it. A FILE may be Vowpal Wabbit text, svmlight, CSV,
    TSV, JSON lines, Parquet or Arrow, plain or compressed (gz, xz, bz2, zst); several, a pattern, or -
    for standard input.

    The table shows the progressive loss: the average loss of predictions that were made before
    their row was learned.
    """
    result = run(ctx, files, given, table=not given["as_json"])
    say = messages.voice(keeps=given["output"] is not None)
    say(json.dumps(result) if given["as_json"] else summary.text(result))


def run(
    ctx: click.Context,
    files: tuple[str, ...],
    given: dict[str, Any],
    *,
    table: bool,
    watch: Callable[[Any, Any], None] | None = None,
) -> dict[str, Any]:
    """Learn and keep the model; returns what there is to sum up. `watch` is called after every chunk."""
    from steelyard.cli import checkpoints, preparing, progress
    from steelyard.cli.training import Training

    with options.errors():
        plan = preparing.prepare(ctx, files, given)
        training = Training(plan.model, plan.run["holdout"], plan.position)
        if plan.totals is not None:
            training.totals = plan.totals
        keeper = checkpoints.Keeper(plan, training, given["output"], given["checkpoint_every"])
        plan.warm_up()
        startup = since_start()
        began = time.perf_counter()
        say = messages.voice(keeps=given["output"] is not None)
        if table:
            for line in (*plan.announcements, ""):
                say(line)
        with keeper.telling(), progress.bar() as bar:
            watcher = progress.Watcher(plan.model, bar, table=table, say=say)

            def after_chunk(learned: Any, stream: Any) -> None:
                watcher(learned, stream)
                keeper.after_chunk(len(learned.examples))
                if watch is not None:
                    watch(learned, plan.model)

            stream = training.run(plan.stream, plan.run["passes"], after_chunk)
        seconds = time.perf_counter() - began
        if training.totals.learned == 0 and plan.model.clock == 0.0:
            raise stream.empty(
                f"{', '.join(stream.paths)}: no row has a label and a weight, so nothing was learned"
            )
        keeper.finish()
    return summary.of(plan, training, stream, seconds=seconds, startup=startup, output=given["output"])
