"""Options about a run of training: passes, rows held out, what is saved and continued; and `RunOptions`."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli.grouped_help import several
from steelyard.cli.option_types import NthOrShare
from steelyard.cli.options.files import FILE_PATH, FORCE, JSON

if TYPE_CHECKING:  # a command whose help is asked for loads no kernels
    from steelyard.engine.run_options import RunOptions

HEADING = "Running"

RUNNING = several(
    click.option("-o", "--output", type=FILE_PATH, metavar="MODEL", help="Where to save the model."),
    FORCE,
    click.option(
        "--passes", type=click.IntRange(1), default=1, show_default=True, metavar="N",
        help="How many times to go through the files. Up to 20,000 rows are usually learned a little better in "
        "3 passes; with standardized scaling, pass k learns at the rate / k².",
    ),
    click.option(
        "--shuffle", is_flag=True,
        help="Learn the rows in random order, a new one in each pass: for files sorted by label. All rows "
        "are read first, into memory, or from 2 GiB on into temporary files.",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N",
                 help="Seed of --shuffle, of a share for --holdout, and of the order in which rows with "
                 "--count are learned."),
    click.option(
        "--holdout", type=NthOrShare(), metavar="N|SHARE",
        help="Keep rows aside, and never learn them. 0.2: a random fifth, on which the finished model is "
        "evaluated, also later by evaluate --held-out and report --held-out. 10: every tenth row, whose loss "
        "is measured in passing, which also works on a pipe.",
    ),
    click.option(
        "--early-stopping", is_flag=True,
        help="Stop after three passes without improvement on the held-out rows, and keep the best pass; "
        "--passes is the maximum. Needs --holdout.",
    ),
    click.option(
        "--calibrate/--no-calibrate", default=None,
        help="Calibrate the probabilities of classes on the predictions of the first pass, each made before "
        "its row was learned; --holdout N --calibrate calibrates them on the held-out rows, and reads the "
        "files once more.  [default: calibrate, on the first pass]",
    ),
    click.option(
        "--resume", type=FILE_PATH, metavar="MODEL",
        help="Continue a model, perhaps with another --learning-rate, --initial-t or --power-t; or an "
        "interrupted run from its checkpoint.",
    ),
    click.option(
        "--checkpoint-every", type=click.IntRange(1), metavar="ROWS",
        help="Save MODEL.checkpoint every ROWS rows; removed when the run succeeds.",
    ),
    JSON,
    heading=HEADING,
)  # fmt: skip


def run_options(given: dict[str, Any]) -> "RunOptions":
    """From those of its options that the command has."""
    from steelyard.engine.run_options import RunOptions

    names = {each.name for each in fields(RunOptions)} & set(given)
    return RunOptions(skip_errors=given["on_error"] == "skip", **{name: given[name] for name in names})
