"""`steelyard sweep`: many settings in one pass over files, and which of them does best."""

import json
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.grouped_help import MOST_USED, GroupedCommand, several
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice, NameList, NthOrShare, NumberList
from steelyard.cli.options.learning import AVERAGE, BIAS, DTYPE
from steelyard.settings import SCALINGS, Settings
from steelyard.updates import names as update_names

_DEFAULT = Settings()


def _swept(name: str, kind: NameList | NumberList, text: str) -> Any:
    """An option for a setting of the learner that takes several values."""
    default = getattr(_DEFAULT, name)
    shown = "by the loss" if default is None else f"{default:g}" if isinstance(default, float) else default
    return click.option(
        f"--{name.replace('_', '-')}", type=kind, metavar="LIST", help=f"{text}  [default: {shown}]"
    )


_GRID = several(
    click.option(
        "--loss", type=NameList(), metavar="LIST",
        help="Losses by name, or your own as module:Class.  [default: modified_huber for classes, squared "
        "for numbers]",
    ),
    options.loss_parameters(),
    _swept("update", NameList(update_names()), f"Updates: {', '.join(update_names())}."),
    _swept("scaling", NameList(SCALINGS), f"Scalings of the learning rate: {', '.join(SCALINGS)}."),
    _swept("learning_rate", NumberList(), "Learning rates at the start."),
    _swept("initial_t", NumberList(), "The weight learned after which the rate begins to fall."),
    _swept("power_t", NumberList(), "How fast the rate falls; 0: not at all."),
    _swept("l1", NumberList(), "L1 regularisation; models with it are learned one after another."),
    _swept("l2", NumberList(), "L2 regularisation."),
    AVERAGE,
    BIAS,
    DTYPE,
    click.option(
        "--paper", is_flag=True,
        help="The grid of Karampatziakis and Langford: 198 schedules (learning rate 2^0..2^10, initial t "
        "10^0..10^8, power t 0.5 and 1), row_norm scaling, four losses, three updates. Other options "
        "change it.",
    ),
    heading="Learning",
)  # fmt: skip

_RUNNING = several(
    click.option("-o", "--output", type=options.FILE_PATH, metavar="RESULTS",
                 help="Save the results of every model: .csv, .json or .parquet."),
    options.FORCE,
    click.option("--pictures", type=options.FOLDER_PATH, metavar="FOLDER",
                 help="Draw heat maps of the schedules, and explicit against invariant updates."),
    click.option("--save", type=options.FILE_PATH, metavar="MODEL",
                 help="Train a model with the best settings on all rows, and save it."),
    click.option("--passes", type=click.IntRange(1), default=1, show_default=True, metavar="N",
                 help="How many times to go through the files."),
    click.option("--holdout", type=NthOrShare(), metavar="N|SHARE",
                 help="Do not learn every Nth row, or a random share such as 0.2; evaluate the models on "
                 "these rows at the end."),
    click.option("--select", type=Choice(
                     ["progressive_loss", "progressive_error", "held_out_loss", "held_out_accuracy"]),
                 help="The figure that decides which model is best.  [default: the held-out one if there is "
                 "--holdout, else the progressive one; the loss if all models have the same, else the "
                 "accuracy]"),
    click.option("--resume", type=options.FILE_PATH, metavar="STATE",
                 help="Save the state of the sweep to this file, and continue from it if it exists; removed "
                 "when the sweep is finished."),
    click.option("--memory", metavar="SIZE",
                 help="How much memory to use, as in 4G; if the models need more, they are learned in "
                 "several rounds.  [default: half of the free memory]"),
    click.option("--threads", type=click.IntRange(1, 64), metavar="N",
                 help="Threads that parse and learn.  [default: one per core; on a cluster one per worker]"),
    options.JSON,
    heading="Running",
)  # fmt: skip

_CLUSTER = several(
    click.option("--cluster", metavar="WHERE",
                 help="Learn blocks of settings side by side, each on a worker that reads all files: local "
                 "(processes on this machine, local:4 for four), ray, ray://HOST:PORT, dask or "
                 "dask://HOST:PORT. The results are the same."),
    click.option("--parts", type=click.IntRange(1), metavar="N",
                 help="How many blocks to learn side by side.  [default: one for every 16 "
                 "models, at most 8]"),
    heading="Cluster",
)  # fmt: skip
_MOST_USED = (
    "output", "label", "loss", "learning_rate", "update", "paper", "passes", "holdout", "select", "save",
    "pictures",
)  # fmt: skip


@click.command(cls=GroupedCommand, headings={MOST_USED: _MOST_USED}, epilog=EXAMPLES["sweep"])
@options.FILES
@options.READING
@options.COUNTS
@options.TASK
@options.CLASS_WEIGHT
@options.WEIGHT_SCALE
@_GRID
@_RUNNING
@_CLUSTER
@options.ON_ERROR
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Learn files with many settings at once, and compare.

    Settings of train may be lists here, and all combinations are learned side by side in one pass.
    Numbers are listed as in 0.5,1 or 2^0..2^10 (powers) or 0.01:10:7 (seven numbers, evenly spaced on a
    logarithmic scale). If no option lists several values, learning rates from 2^-6 to 2^4 are tried.

    The table shows the best model of every loss and update, the share of schedules that come near it, and
    the number of models that diverged.
    """
    from steelyard.cli import sweep_report, sweep_run

    result = sweep_run.run(ctx, files, given)
    click.echo(json.dumps(result) if given["as_json"] else sweep_report.text(result))
