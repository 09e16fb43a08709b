"""Options about labels and weights of rows."""

from typing import Any

import click

from steelyard.cli.grouped_help import several
from steelyard.cli.option_types import Choice, ClassWeights

HEADING = "Labels and weights"

LABELS = several(
    click.option(
        "--labels", metavar="A,B,…",
        help="The names of the classes in the files: two, the negative one first, or more. * in the first "
        "place means every other label, as in '*,spam'.  [default: detected]",
    ),
    heading=HEADING,
)  # fmt: skip
TASK = several(
    click.option(
        "--classes/--numbers", "classes", default=None,
        help="Whether numeric labels are classes or numbers to predict.  [default: two different values are "
        "classes, more are numbers; --loss and --labels also decide it]",
    ),
    heading=HEADING,
)  # fmt: skip
CLASS_WEIGHT = several(
    click.option(
        "--class-weight", type=ClassWeights(), metavar="WEIGHTS",
        help="Multiply the weights of rows by class: balanced, or as in ham=1,spam=5.",
    ),
    heading=HEADING,
)  # fmt: skip
WEIGHT_FACTOR = several(
    click.option(
        "--weight-factor", type=click.FloatRange(0.0, min_open=True), metavar="FACTOR", default=1.0,
        show_default=True,
        help="Multiply all weights by this: 1e-5 for survey weights in the hundreds of thousands.",
    ),
    heading=HEADING,
)  # fmt: skip
WEIGHT_SCALE = several(
    click.option(
        "--weight-scale", type=Choice(["auto", "as_given"]), default="auto", show_default=True,
        help="auto: if the weights of the first rows make no sense as counts (median and mean both below 1/8 "
        "or both above 16), bring all weights nearer to 1; as_given: never.",
    ),
    heading=HEADING,
)  # fmt: skip
EVALUATED_LABELS = click.option(
    "--labels", metavar="A,B,…",
    help="The names of the classes in these files, in the order of the model's own. * in the first place "
    "means every other label.  [default: the model's]",
)  # fmt: skip
HELD_OUT = click.option(
    "--held-out", is_flag=True,
    help="Only the rows that train --holdout kept aside. The files must be those of the training run, in the "
    "same order.",
)  # fmt: skip


def task(given: dict[str, Any]) -> str | None:
    """What labels are, if the user says so by an option of `TASK`."""
    from steelyard.engine.file_labels import CLASSES, NUMBERS

    return {None: None, True: CLASSES, False: NUMBERS}[given["classes"]]
