"""The run of a sweep: from options to points and rows, through all rounds, to files."""

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard import losses as registry
from steelyard import plotting
from steelyard.cli import options, progress, sweep_report
from steelyard.cli.commands import train
from steelyard.cli.common import check_outputs, printer, seconds_since_start
from steelyard.cli.retelling import option_words, shown_number
from steelyard.cli.wording import in_options, option_name
from steelyard.engine import file_labels, holdout
from steelyard.engine.class_weights import ClassWeight
from steelyard.engine.model_set import usable_threads
from steelyard.engine.run_options import RunOptions
from steelyard.io import sources
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.read_options import ReadOptions
from steelyard.losses import Loss
from steelyard.model import Settings
from steelyard.sweep import grid, plan, results
from steelyard.sweep.files import SweepFiles, open_files
from steelyard.sweep.grid import Expanded, Point
from steelyard.sweep.pictures import draw_pictures
from steelyard.sweep.search import Search

_MOST_CLASSES = 12  # that are listed
_AXES = ("update", "scaling", "learning_rate", "initial_t", "power_t", "l1", "l2")
PAPER: dict[str, list[Any]] = {
    "loss": ["squared", "logistic", "hinge", "quantile"],
    "update": ["explicit", "implicit", "invariant"],
    "scaling": ["row_norm"],
    "learning_rate": [2.0**k for k in range(11)],
    "initial_t": [10.0**k for k in range(9)],
    "power_t": [0.5, 1.0],
}
_RATES = [2.0**k for k in range(-6, 5)]


@dataclass(frozen=True)
class SweepOptions:
    """The options of `sweep`, typed."""

    read: ReadOptions
    losses: list[str] | None
    loss_parameters: dict[str, float]
    axes: dict[str, list[Any]]
    """The settings for which the user lists values."""
    common: dict[str, Any]
    """The settings that all points share."""
    paper: bool
    class_weight: ClassWeight
    run: RunOptions
    memory: int
    select: str | None
    state: Path | None
    task: str | None
    cluster: str | None
    parts: int | None
    output: Path | None
    pictures: Path | None
    save: Path | None

    @classmethod
    def from_given(cls, given: dict[str, Any]) -> "SweepOptions":
        same = ("paper", "class_weight", "select", "cluster", "parts", "output", "pictures", "save")
        return cls(
            read=options.read_options(given),
            losses=given["loss"],
            loss_parameters=options.given_loss_parameters(given),
            axes={name: given[name] for name in _AXES if given[name] is not None},
            common={name: given[name] for name in ("average", "bias", "dtype")},
            run=options.run_options(
                given | {"threads": _threads(given), "holdout": holdout.parse(given["holdout"])}
            ),
            memory=plan.memory_of(given["memory"]),
            state=given["resume"],
            task=options.task(given),
            **{name: given[name] for name in same},
        )

    @property
    def keeps(self) -> bool:
        """Whether anything is written to files."""
        return any(path is not None for path in (self.output, self.save, self.state, self.pictures))


def run(ctx: click.Context, files: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Learn all models, and write what is asked for; returns the summary."""
    with options.errors():
        paths, wanted = sources.expand(files), SweepOptions.from_given(given)
        check_outputs([wanted.output, wanted.save], paths, force=given["force"])
        check_outputs([wanted.state], paths, force=True)
        if wanted.output is not None:
            results.writer(wanted.output)  # an unknown suffix is an error before the work
        if wanted.pictures is not None:
            plotting.require_matplotlib()
        if wanted.save is not None and any(map(sources.once_only, paths)):
            raise InputError(
                "--save reads the files once more, and standard input is gone: save it to a file"
            )
        run_options = wanted.run
        spec, first = wanted.read.infer(paths, wanted.common["dtype"])
        losses = _losses(wanted, spec, first)
        expanded, announcements = _expand(wanted, list(losses))
        source = open_files(
            paths, (spec, first), list(losses), named=wanted.read.label_names, task=wanted.task,
            class_weight=wanted.class_weight, holdout=run_options.holdout, threads=run_options.usable_threads,
            skip=run_options.skip_errors, weight_scale=run_options.weight_scale,
        )  # fmt: skip
        search = _search(expanded.points, source, wanted)
        notes = list(map(in_options, expanded.notes))
        if wanted.save is not None and not search.results.comparable:
            raise InputError(
                "--save keeps the best, and losses of numbers cannot be compared: give one --loss"
            )
        if not given["as_json"]:
            lines = [
                *announcements,
                *_about(source),
                search.plan.describe(),
                *notes,
                "",
            ]
            if wanted.state is not None and wanted.state.exists():
                lines.insert(-1, f"continuing from {wanted.state}")
            printer(keeps=wanted.keeps)("\n".join(lines))
        startup, began = seconds_since_start(), time.perf_counter()
        with progress.watching_search(wanted.state) as watch:
            search.run(watch)
        seconds = time.perf_counter() - began
        # a state may have needed no more rows
        stream = search.read or source.files.stream or source.files.open()
        found = search.results.found
        if np.isnan(found["progressive_loss"]).all() and not found["diverged"].any():
            raise (source.files.stream or source.files.open()).empty(
                f"{', '.join(paths)}: no row has a label and a weight, so nothing was learned"
            )
        summary = sweep_report.summarise(search, stream, notes, seconds=seconds, startup=startup)
        best = sweep_report.best_of(search.results)
        again = None if best is None else _equivalent_command(ctx, paths, expanded.points[best], losses)
        summary |= {"command": again} | _write(search, source, wanted)
    return summary


def _threads(given: dict[str, Any]) -> int:
    """One thread for every core; on a cluster one for each worker."""
    return usable_threads(given["threads"]) if given["cluster"] is None else given["threads"] or 1


def _search(points: list[Point], source: SweepFiles, wanted: SweepOptions) -> Search:
    run, spec = wanted.run, source.spec
    common: dict[str, Any] = {
        "features": spec.features, "classes": source.classes, "passes": run.passes, "threads": run.threads,
        "select": wanted.select, "state": wanted.state, "memory": wanted.memory,
        "identity": source.identity() | {"rows held out": run.holdout},
        "own_units": spec.features_with_own_units(),
    }  # fmt: skip
    if wanted.cluster is None:
        if wanted.parts is not None:
            raise InputError("--parts: for a sweep on a cluster, --cluster local, say")
        return Search(points, source.rows(run.holdout, wanted.memory), **common)
    from steelyard.sweep.cluster import ClusterSearch

    return ClusterSearch(points, source, wanted.cluster, holdout=run.holdout, parts=wanted.parts, **common)


def _losses(wanted: SweepOptions, spec: InputSpec, labels: list[str]) -> dict[Loss, str]:
    """The losses, and what the user calls them."""
    inferred = file_labels.infer_loss(spec, labels, wanted.read.label_names, wanted.task)
    names = wanted.losses or (PAPER["loss"] if wanted.paper else [inferred])
    parameters = wanted.loss_parameters
    losses = {}
    for name in names:
        known = registry.parameters(name) if options.own_loss(name) is None else parameters
        own = {key: value for key, value in parameters.items() if key in known}
        losses[options.loss_named(name, own)] = name
    for name in parameters:
        if not any(hasattr(loss, name) for loss in losses):
            raise InputError(f"{option_name(name)}: none of the losses has it")
    return losses


def _expand(wanted: SweepOptions, losses: list[Loss]) -> tuple[Expanded, list[str]]:
    """The points, and what was decided without being asked."""
    axes = dict(wanted.axes)
    announcements = []
    single = len(losses) == 1 and all(len(values) == 1 for values in axes.values())
    if wanted.paper:
        axes = {name: values for name, values in PAPER.items() if name != "loss"} | axes
    elif single and "learning_rate" not in axes:
        axes["learning_rate"] = _RATES
        announcements.append("learning rates: 2^-6..2^4 (no option lists several values)")
    base = Settings(loss=losses[0], **wanted.common)
    return grid.expand(base, {"loss": losses} | axes), announcements


def _about(source: SweepFiles) -> list[str]:
    lines = [f"format: {source.spec.format}"]
    names = source.labels.class_names
    if names is not None:
        *others, last = map(str, names.tolist()[:_MOST_CLASSES])
        more = "" if len(names) <= _MOST_CLASSES else ", …"
        lines.append(f"classes: {', '.join(others)} and {last}{more}")
    return lines


def _write(search: Search, source: SweepFiles, wanted: SweepOptions) -> dict[str, Any]:
    """Write the files that were asked for; returns their names."""
    if wanted.output is not None:
        search.results.save(wanted.output)
    drawn = [] if wanted.pictures is None else draw_pictures(search.results, wanted.pictures)
    if wanted.save is not None:
        settings = search.points[search.results.best_index].settings
        training = source.train([settings], passes=wanted.run.passes, names=wanted.read.names)
        training.run()
        training.save(wanted.save)
    return {
        "output": None if wanted.output is None else str(wanted.output),
        "pictures": [str(path) for path in drawn],
        "model": None if wanted.save is None else str(wanted.save),
    }


# Options of `train` that a point decides, or that are about a run and not about what it learns.
_NOT_RETOLD = {
    "files", "loss", "update", "scaling", "learning_rate", "initial_t", "power_t", "l1", "l2", "output",
    "holdout", "resume", "checkpoint_every", "threads", "on_error", "as_json", "force", "cluster", "parts",
}  # fmt: skip


def _equivalent_command(ctx: click.Context, files: list[str], point: Point, losses: dict[Loss, str]) -> str:
    """The command that trains the best model; `losses` are their names as the user typed them."""
    loss = point.settings.loss
    words = ["steelyard", "train", *files, "--loss", losses[loss]]
    for name, value in point.params.items():
        if name != "loss":
            words += [option_name(name), shown_number(value)]
    retold = {parameter.name for parameter in train.command.params} - _NOT_RETOLD
    retold -= {name for name in options.loss_parameter_names() if not hasattr(loss, name)}
    retold &= options.given_names(ctx)
    for parameter in ctx.command.params:
        if parameter.name in retold:
            words += option_words(parameter, ctx.params[parameter.name])
    return shlex.join(words)
