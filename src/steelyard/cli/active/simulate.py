"""`steelyard active simulate`: what labels would have been worth, on files whose labels are known."""

import json
import time
from pathlib import Path
from typing import Any

import click

from steelyard import plotting
from steelyard.cli import messages, options
from steelyard.cli.choices import Choice
from steelyard.cli.options import options as several
from steelyard.cli.sweeps.list_values import Names, Numbers

_POLICIES = ("invariant", "implicit", "multiplication", "margin", "random")
_READING = several(
    options.FORMAT, options.BITS, options.INTERACTIONS, options.LABELS, options.TABLES,
)  # fmt: skip
_SIMULATING = several(
    click.option("--policies", type=Names(_POLICIES), metavar="LIST", default="implicit,margin,random",
                 show_default=True, help=f"Of {', '.join(_POLICIES)}."),
    click.option("--fractions", type=Numbers(), metavar="LIST", default="0.01,0.02,0.05,0.1,0.2",
                 show_default=True, help="Of the labels: how many may be asked for."),
    click.option("--learner", type=Choice(["refit", "once"]), default="refit", show_default=True,
                 help="What learns the answers: as ActiveClassifier does, again and again in several orders; "
                 "or once as they come, those of IWAL with weight 1/P."),
    click.option("--seeds", type=click.IntRange(1, 1000), default=3, show_default=True,
                 help="How often to shuffle and split anew."),
    click.option("--holdout", type=click.IntRange(2), default=5, show_default=True, metavar="N",
                 help="One in N rows is not learned but tested on."),
    click.option("--grid", is_flag=True,
                 help="The paper's way: for each policy 198 schedules × 10 values of C₀ abreast, squared "
                 "loss, every answer learned once, and the best settings in hindsight."),
    click.option("--pictures", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
                 help="Draw the curves, as SVG and PNG."),
    options.THREADS,
    options.ON_ERROR,
    options.JSON,
)  # fmt: skip


@click.command(epilog=options.EXAMPLES["active simulate"])
@options.FILES
@_READING
@_SIMULATING
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Try on labelled files what asking for few labels would have come to.

    The rows are shuffled and some held out. Of the others each policy gets the labels it asks for, a
    fraction of them, and no more; the table shows what has been learned from them: the error on the rows
    held out, and beside it what the labels paid for say of that error themselves.

    implicit is ActiveClassifier as it comes; invariant and multiplication are importance-weighted active
    learning with other updates (multiplication: the gradient times the weight); margin buys the labels of
    which the model is least sure, and random any.
    """
    from click.core import ParameterSource

    from steelyard.cli.active.simulations import grid, labelled_rows, report, trials
    from steelyard.cli.active.simulations.progress import ticking
    from steelyard.cli.sweeps import progress
    from steelyard.io.errors import InputError

    say = messages.voice(keeps=given["pictures"] is not None)
    with options.errors():
        if given["grid"] and ctx.get_parameter_source("learner") == ParameterSource.COMMANDLINE:
            raise InputError("--grid learns every answer once: leave out --learner")
        if given["pictures"] is not None:
            plotting.require_matplotlib()
        rows = labelled_rows.read(ctx, files, given)
        if len(rows.examples) // given["holdout"] == 0:
            raise InputError(f"{len(rows.examples)} rows are too few to hold out one in {given['holdout']}")
        if not given["as_json"]:
            progress.announce(report.about(rows, given), say)
        began = time.perf_counter()
        way = grid if given["grid"] else trials
        with ticking(way.count(given)) as tick:
            found = way.run(rows, given, tick)
        result = report.of(rows, given, found, time.perf_counter() - began)
        if given["pictures"] is not None:
            from steelyard.cli.active.simulations import pictures

            result["pictures"] = [str(path) for path in pictures.drawn(result, given["pictures"])]
    say(json.dumps(result) if given["as_json"] else report.text(result))
