"""The run of a sweep: from options to points and rows, through all rounds, to files."""

import time
from typing import Any

import click
import numpy as np

from steelyard import losses as registry
from steelyard import plotting
from steelyard.cli import messages, options, outputs, preparing, stored
from steelyard.cli.clock import since_start
from steelyard.cli.preparing import Plan
from steelyard.cli.sweeps import equivalent_command, pictures, progress, report
from steelyard.cli.training import Training
from steelyard.engine.model_set import usable_threads
from steelyard.features.names import Names
from steelyard.io import label_inference, sources
from steelyard.io.errors import InputError
from steelyard.losses import Loss
from steelyard.model import Model, Settings
from steelyard.sweep import grid, plan, results
from steelyard.sweep.files import Files, in_terms_of, in_terms_of_all
from steelyard.sweep.grid import Expanded
from steelyard.sweep.search import Search

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


def run(ctx: click.Context, files: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Returns what there is to sum up."""
    with options.errors():
        paths = sources.expand(files)
        _check_outputs(given, paths)
        if given["save"] is not None and any(map(sources.once_only, paths)):
            raise InputError(
                "--save reads the files once more, and standard input is gone: save it to a file"
            )
        reading, labels = preparing.looked_at(ctx, paths, given)
        losses = _losses(given, labels)
        expanded, announcements = _expanded(given, list(losses))
        reading, classes = in_terms_of_all(reading, labels, list(losses), paths[0], given["labels"])
        threads, memory = usable_threads(given["threads"]), plan.memory_of(given["memory"])
        source = Files(paths, reading, threads=threads, skip=given["on_error"] == "skip")
        search = Search(
            expanded.points,
            source.rows(given["holdout"], memory),
            features=reading.features,
            classes=classes,
            passes=given["passes"],
            memory=memory,
            threads=threads,
            select=given["select"],
            state=given["resume"],
            identity=source.identity() | {"rows held out": given["holdout"]},
        )
        if given["save"] is not None and not search.results.comparable:
            raise InputError(
                "--save keeps the best, and losses of numbers cannot be compared: give one --loss"
            )
        if not given["as_json"]:
            kept = [given[name] for name in ("output", "save", "resume", "pictures")]
            progress.announce(
                [*announcements, *_about(source, classes), search.plan.describe(), *expanded.notes],
                messages.voice(keeps=any(path is not None for path in kept)),
            )
        startup, began = since_start(), time.perf_counter()
        with progress.watching(search, given["resume"]) as watch:
            search.run(watch)
        seconds = time.perf_counter() - began
        stream = source.stream or source.open()  # of a state that needed no more rows there is none
        if (
            np.isnan(search.results.found["progressive_loss"]).all()
            and not search.results.found["diverged"].any()
        ):
            raise stream.empty(f"{', '.join(paths)}: no row has a label and a weight, so nothing was learned")
        summed = report.of(search, stream, expanded.notes, seconds=seconds, startup=startup)
        best = report.best_of(search.results)
        told = None if best is None else equivalent_command.command(ctx, paths, expanded.points[best], losses)
        summed |= {"command": told} | _written(search, source, given)
    return summed


def _losses(given: dict[str, Any], labels: list[str]) -> dict[Loss, str]:
    """The losses, and what the user calls them."""
    guessed = PAPER["loss"] if given["paper"] else [label_inference.loss_for(labels)]
    parameters = preparing.parameters(given)
    losses = {options.loss_named(name, _own(name, parameters)): name for name in given["loss"] or guessed}
    for name in parameters:
        if not any(hasattr(loss, name) for loss in losses):
            raise InputError(f"--{name.replace('_', '-')}: none of the losses has it")
    return losses


def _expanded(given: dict[str, Any], losses: list[Loss]) -> tuple[Expanded, list[str]]:
    """The points, and what was decided without being asked."""
    said = {name: given[name] for name in _AXES if given[name] is not None}
    announcements = []
    if given["paper"]:
        said = {name: values for name, values in PAPER.items() if name != "loss"} | said
    elif (
        len(losses) == 1 and all(len(values) == 1 for values in said.values()) and "learning_rate" not in said
    ):
        said["learning_rate"] = _RATES
        announcements.append("learning rates: 2^-6..2^4 (no option lists several values)")
    base = Settings(loss=losses[0], l2_flow=given["l2_flow"], bias=given["bias"], dtype=given["dtype"])
    return grid.expand(base, {"loss": losses} | said), announcements


def _own(name: str, parameters: dict[str, float]) -> dict[str, float]:
    """Those of the parameters that the loss has."""
    known = registry.parameters(name) if options.own_loss(name) is None else parameters
    return {key: value for key, value in parameters.items() if key in known}


def _check_outputs(given: dict[str, Any], paths: list[str]) -> None:
    """What would otherwise be found out after the work."""
    outputs.check([given[name] for name in ("output", "save", "resume")], paths)
    if given["output"] is not None:
        results.writer(given["output"])
    if given["pictures"] is not None:
        plotting.require_matplotlib()


def _about(source: Files, classes: int) -> list[str]:
    rule = source.reading.label_rule
    lines = [f"format: {source.reading.format}"]
    if classes and rule is not None:
        lines.append(f"classes: {rule.negative} and {rule.positive}")
    return lines


def _written(search: Search, source: Files, given: dict[str, Any]) -> dict[str, Any]:
    """The files that were asked for, and their names."""
    if given["output"] is not None:
        search.results.save(given["output"])
    drawn = [] if given["pictures"] is None else pictures.draw_pictures(search.results, given["pictures"])
    if given["save"] is not None:
        _retrain(search, source, given)
    return {
        "output": None if given["output"] is None else str(given["output"]),
        "pictures": [str(path) for path in drawn],
        "model": None if given["save"] is None else str(given["save"]),
    }


def _retrain(search: Search, source: Files, given: dict[str, Any]) -> None:
    """The best settings once more, by the single kernel and on all rows, as `train` would."""
    settings = search.points[search.results.best_index].settings
    reading = in_terms_of(source.reading, settings.loss)
    names = Names(reading.features) if given["names"] else None
    skip = given["on_error"] == "skip"
    model = Model(settings, reading.features)
    plan = Plan(source.paths, reading, model, names, threads=usable_threads(given["threads"]), skip=skip)
    Training(model).run(plan.stream, given["passes"], lambda learned, stream: None)
    stored.save(given["save"], model, reading, names, None)
