"""`steelyard active simulate`: what active learning would have achieved on files whose labels are known."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from steelyard import plotting
from steelyard._messages import counted
from steelyard.active import strategies
from steelyard.cli import options
from steelyard.cli.common import printer
from steelyard.cli.grouped_help import MOST_USED, GroupedCommand, several
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice, NameList, NumberList
from steelyard.io.errors import InputError

if TYPE_CHECKING:  # a command whose help is asked for loads no kernels
    from steelyard.examples import Examples
    from steelyard.io.stream import Stream

_UPDATES = ("implicit", "invariant", "explicit")
_READING = several(
    options.FORMAT, options.BITS, options.INTERACTIONS, options.LABELS, options.TABLES,
)  # fmt: skip
_SIMULATING = several(
    click.option("--strategy", type=NameList(strategies.names()), metavar="LIST",
                 default="iwal,margin,random", show_default=True,
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
    click.option("--pictures", type=options.FOLDER_PATH, metavar="FOLDER",
                 help="Draw the curves, as SVG and PNG."),
    options.THREADS,
    options.ON_ERROR,
    options.JSON,
)  # fmt: skip
_HEADINGS = {
    MOST_USED: ("label", "strategy", "fractions", "seeds", "holdout", "pictures"),
    "The simulation": ("update", "learner", "as_json"),
}


@dataclass(frozen=True)
class LabelledFile:
    """All rows of the files, with labels −1 and 1; of several classes 0, 1, 2, …"""

    examples: "Examples"
    classes: tuple[str, ...]
    stream: "Stream"
    format: str
    unlabelled: int


@click.command(cls=GroupedCommand, headings=_HEADINGS, epilog=EXAMPLES["active simulate"])
@options.FILES
@_READING
@_SIMULATING
def command(files: tuple[str, ...], **given: Any) -> None:
    """Simulate active learning on labelled files.

    The rows are shuffled and some are held out. Of the others, each strategy gets a fraction of the labels,
    those it asks for. The table shows the error on the held-out rows and, where the strategy allows it, the
    error as estimated from the labels alone.

    iwal with the implicit update is ActiveClassifier with its defaults; margin asks for the labels of which
    the model is least sure, in the whole pool; random asks for any.
    """
    from rich.progress import MofNCompleteColumn

    from steelyard.active import strategy_trials
    from steelyard.cli import progress
    from steelyard.cli.commands.active import report

    say = printer(keeps=given["pictures"] is not None)
    with options.errors():
        if given["pictures"] is not None:
            plotting.require_matplotlib()
        rows = _read_rows(files, given)
        plan = strategy_trials.TrialPlan(
            given["strategy"], given["update"], given["fractions"], given["seeds"], given["holdout"],
            len(rows.classes),
        )  # fmt: skip
        if len(rows.examples) // plan.holdout == 0:
            raise InputError(f"{len(rows.examples)} rows are too few to hold out one in {plan.holdout}")
        if not given["as_json"]:
            say(report.announcement(rows, plan, given["learner"]))
        began = time.perf_counter()
        with progress.bar(MofNCompleteColumn()) as bar:
            tick = partial(bar.advance, bar.add_task("trials", total=plan.count()))
            found = strategy_trials.run_trials(rows.examples, plan, given["learner"], tick)
        result = report.summarise(rows, given, found, time.perf_counter() - began)
        if given["pictures"] is not None:
            result["pictures"] = [str(path) for path in report.draw(result, given["pictures"])]
    say(json.dumps(result) if given["as_json"] else report.text(result))


def _read_rows(files: Sequence[str], given: dict[str, Any]) -> LabelledFile:
    from steelyard.active.labelled_rows import with_own_features
    from steelyard.active.strategy_trials import LOSS
    from steelyard.engine import file_labels
    from steelyard.engine.file_rows import FileRows
    from steelyard.examples import join
    from steelyard.io import sources

    paths = sources.expand(files)
    where = ", ".join(paths)
    read = options.read_options(given | {"weight_factor": 1.0})
    spec, first = read.infer(paths, "float32")
    labels = file_labels.infer_labels(
        paths, spec, first, LOSS, named=read.label_names, task=file_labels.CLASSES
    )
    rule = file_labels.in_terms_of(labels, LOSS).rule
    assert rule is not None  # there are two classes or more
    spec, run = replace(spec, label_rule=rule), options.run_options(given)
    stream = FileRows(paths, spec, threads=run.usable_threads, skip=run.skip_errors).open()
    reader = spec.reader()
    nothing = reader.parse(reader.nothing()).examples
    rows = join([nothing, *(_check_plain(parsed.examples, where) for parsed in stream)])
    known = np.flatnonzero(~np.isnan(rows.labels))
    if not len(known):
        raise stream.empty(f"{where}: no row has a label; a simulation needs labels to answer its questions")
    found = np.unique(rows.labels[known])
    if len(found) < 2:
        only = rule.names[rule.values.index(found[0])]
        raise InputError(
            f"{where}: all {counted(len(known), 'row')} are of one class, {only}: there is nothing to learn"
        )
    unlabelled = len(rows) - len(known)
    _, own = with_own_features(rows.take(known))  # many such models fit into memory
    return LabelledFile(own, tuple(rule.names), stream, spec.format, unlabelled)


def _check_plain(examples: "Examples", where: str) -> "Examples":
    """Every label costs the same and every row counts once, so weights and offsets are refused."""
    if (examples.sample_weight[~np.isnan(examples.labels)] != 1.0).any() or examples.offsets is not None:
        what = "weights" if examples.offsets is None else "offsets"
        raise InputError(
            f"{where}: rows have {what}, but a simulation counts every row once; "
            "leave out such columns (--ignore COLUMN)"
        )
    return examples
