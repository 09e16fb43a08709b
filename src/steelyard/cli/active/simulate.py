"""`steelyard active simulate`: what active learning would have achieved on files whose labels are known."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from steelyard import plotting
from steelyard.active import strategies
from steelyard.cli import options
from steelyard.cli.common import Choice, printer
from steelyard.cli.options import options as several
from steelyard.cli.sweeps.list_values import NameList, NumberList

_UPDATES = ("implicit", "invariant", "explicit")
_READING = several(
    options.FORMAT, options.BITS, options.INTERACTIONS, options.LABELS, options.TABLES,
)  # fmt: skip
_SIMULATING = several(
    click.option("--strategy", type=NameList(strategies.names()), metavar="LIST",
                 default=",".join(strategies.names()), show_default=True,
                 help="How to choose labels; one or more strategies."),
    click.option("--update", type=NameList(_UPDATES), metavar="LIST", default=_UPDATES[0], show_default=True,
                 help=f"How to learn; one or more of {', '.join(_UPDATES)}."),
    click.option("--fractions", type=NumberList(), metavar="LIST", default="0.01,0.02,0.05,0.1,0.2",
                 show_default=True, help="The fractions of the labels that may be asked for."),
    click.option("--learner", type=Choice(["refit", "once"]), default="refit", show_default=True,
                 help="refit: learn the answers again and again in several orders, as ActiveClassifier does; "
                 "once: learn each answer once as it comes, with weight 1/P."),
    click.option("--seeds", type=click.IntRange(1, 1000), default=3, show_default=True,
                 help="How often to shuffle and split the rows."),
    click.option("--holdout", type=click.IntRange(2), default=5, show_default=True, metavar="N",
                 help="Hold out one in N rows for testing."),
    click.option("--grid", is_flag=True,
                 help="Run the paper's experiment: 198 schedules × 10 values of C₀ side by side for each "
                 "strategy and update, squared loss, every answer learned once, the best settings in "
                 "hindsight."),
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
    """Simulate active learning on labelled files.

    The rows are shuffled and some are held out. Of the others, each strategy gets a fraction of the labels,
    those it asks for. The table shows the error on the held-out rows and, where the strategy allows it, the
    error as estimated from the labels alone.

    iwal with the implicit update is ActiveClassifier with its defaults; margin asks for the labels of which
    the model is least sure, in the whole pool; random asks for any.
    """
    from click.core import ParameterSource

    from steelyard.active import strategy_trials
    from steelyard.cli.active import labelled_rows, report
    from steelyard.cli.sweeps import progress
    from steelyard.io.errors import InputError

    say = printer(keeps=given["pictures"] is not None)
    with options.errors():
        if given["grid"] and ctx.get_parameter_source("learner") == ParameterSource.COMMANDLINE:
            raise InputError("--grid learns every answer once: leave out --learner")
        if given["pictures"] is not None:
            plotting.require_matplotlib()
        names = given["strategy"]
        if given["grid"] and ctx.get_parameter_source("strategy") == ParameterSource.DEFAULT:
            names = [name for name in names if strategies.by_name(name).lane_code is not None]
        plan = strategy_trials.TrialPlan(
            names, given["update"], given["fractions"], given["seeds"], given["holdout"]
        )
        rows = labelled_rows.read(files, given)
        if len(rows.examples) // plan.holdout == 0:
            raise InputError(f"{len(rows.examples)} rows are too few to hold out one in {plan.holdout}")
        schedules = _schedules() if given["grid"] else None
        if not given["as_json"]:
            progress.announce(report.announcement(rows, plan, given["learner"], schedules), say)
        began = time.perf_counter()
        if schedules is not None:
            with _ticking(plan.seeds * len(plan.strategies) * len(plan.updates)) as tick:
                found = strategy_trials.run_grid(rows.examples, plan, schedules, tick)
        else:
            with _ticking(strategy_trials.count_trials(plan)) as tick:
                found = strategy_trials.run_trials(rows.examples, plan, given["learner"], tick)
        result = report.summarise(rows, given, found, time.perf_counter() - began)
        if given["pictures"] is not None:
            from steelyard.cli.active import pictures

            result["pictures"] = [str(path) for path in pictures.draw(result, given["pictures"])]
    say(json.dumps(result) if given["as_json"] else report.text(result))


def _schedules() -> list[tuple[float, float, float]]:
    """The learning rates of the paper, as in `steelyard sweep --paper`."""
    from itertools import product

    from steelyard.cli.sweeps.running import PAPER

    return list(product(PAPER["learning_rate"], PAPER["initial_t"], PAPER["power_t"]))


@contextmanager
def _ticking(total: int) -> Iterator[Callable[[], None]]:
    """A function to call after each of so many trials: a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)
