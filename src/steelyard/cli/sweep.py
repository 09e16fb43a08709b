"""`steelyard sweep`: many settings in one pass over files, and which of them does best."""

import json
from pathlib import Path
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.common import Choice
from steelyard.cli.options import options as several
from steelyard.cli.sweeps.list_values import Names, Numbers
from steelyard.model import DTYPES, L2_FLOWS, SCALINGS, Settings
from steelyard.updates import names as update_names

_DEFAULT = Settings()
_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


def _swept(name: str, kind: Names | Numbers, text: str) -> Any:
    """An option for a setting of the learner that takes several values."""
    default = getattr(_DEFAULT, name)
    shown = "by the loss" if default is None else f"{default:g}" if isinstance(default, float) else default
    return click.option(
        f"--{name.replace('_', '-')}", type=kind, metavar="LIST", help=f"{text}  [default: {shown}]"
    )


_GRID = several(
    click.option(
        "--loss", type=Names(), metavar="LIST",
        help="Losses by name, or your own as module:Class.  [default: modified_huber for two classes, else "
        "squared]",
    ),
    options.loss_parameters(),
    _swept("update", Names(update_names()), f"Of {', '.join(update_names())}."),
    _swept("scaling", Names(SCALINGS), f"Of {', '.join(SCALINGS)}."),
    _swept("learning_rate", Numbers(), "The rates at the start."),
    _swept("initial_t", Numbers(), "Weighted examples after which the rate begins to fall."),
    _swept("power_t", Numbers(), "How fast the rate falls; 0: not at all."),
    _swept("l1", Numbers(), "L1 regularisation; such models learn one by one."),
    _swept("l2", Numbers(), "L2 regularisation."),
    click.option("--l2-flow", type=Choice(L2_FLOWS), default=_DEFAULT.l2_flow, show_default=True,
                 help="L2 after each row, or exactly, as a part of its step."),
    click.option("--bias/--no-bias", default=True, show_default=True, help="A feature that every row has."),
    click.option("--dtype", type=Choice(DTYPES), default=_DEFAULT.dtype, show_default=True,
                 help="Of the weights."),
    click.option(
        "--paper", is_flag=True,
        help="The grid of Karampatziakis and Langford: 198 schedules (learning rate 2^0..2^10, initial t "
        "10^0..10^8, power t 0.5 and 1), row_norm scaling, four losses, three updates. Options overrule it.",
    ),
)  # fmt: skip

_RUNNING = several(
    click.option("-o", "--output", type=_FILE, metavar="RESULTS",
                 help="Keep what has come of every model: .csv, .json or .parquet."),
    click.option("--pictures", type=_FOLDER, metavar="FOLDER",
                 help="Draw heat maps of the schedules, and explicit against invariant updates."),
    click.option("--save", type=_FILE, metavar="MODEL",
                 help="Train the best settings anew on all rows, and keep the model."),
    click.option("--passes", type=click.IntRange(1), default=1, show_default=True,
                 help="How often each model goes through the rows."),
    click.option("--holdout", type=click.IntRange(2), metavar="N",
                 help="Do not learn every Nth row; measure the models on these when they are through."),
    options.CLASS_WEIGHT,
    click.option("--select", type=Choice(
                     ["progressive_loss", "progressive_error", "held_out_loss", "held_out_accuracy"]),
                 help="What the best is best in.  [default: held out if there are such rows; the loss if "
                 "there is one only, else the accuracy]"),
    click.option("--resume", type=_FILE, metavar="STATE",
                 help="Keep in this file how far it is, and go on from there if it exists. It goes when all "
                 "is done."),
    click.option("--memory", metavar="SIZE",
                 help="As in 4G: more models than fit are learned in several rounds.  [default: half of what "
                 "is free]"),
    click.option("--threads", type=click.IntRange(1, 64),
                 help="Threads that parse and learn.  [default: one a core]"),
    options.ON_ERROR,
    options.JSON,
)  # fmt: skip


@click.command(epilog=options.EXAMPLES["sweep"])
@options.FILES
@options.READING
@_GRID
@_RUNNING
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Learn files with many settings at once, and compare.

    Every setting of train takes a list here, and all combinations are learned side by side in one pass:
    numbers as in 0.5,1 or 2^0..2^10 (powers) or 0.01:10:7 (so many, evenly spaced in their logarithm).
    If no option lists several values, learning rates from 2^-6 to 2^4 are tried.

    The table has the best of every loss and update, how many schedules come near the best, and how many
    models diverged: those are frozen, and disturb no other.
    """
    from steelyard.cli.sweeps import report, running

    result = running.run(ctx, files, given)
    click.echo(json.dumps(result) if given["as_json"] else report.text(result))
