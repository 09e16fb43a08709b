"""The command that trains one point of a sweep alone: its settings, and what the user said of the files."""

import shlex
from typing import Any

import click
from click.core import ParameterSource

from steelyard.cli import options, train
from steelyard.losses import Loss
from steelyard.sweep.grid import Point

# Options of `train` that a point decides, or that are about a run and not about what it learns.
_NOT_RETOLD = {
    "files", "loss", "update", "scaling", "learning_rate", "initial_t", "power_t", "l1", "l2", "output",
    "holdout", "resume", "checkpoint_every", "threads", "on_error", "as_json",
}  # fmt: skip


def command(ctx: click.Context, files: list[str], point: Point, losses: dict[Loss, str]) -> str:
    """`losses`: what the user calls them."""
    loss = point.settings.loss
    words = ["steelyard", "train", *files, "--loss", losses[loss]]
    for name, value in point.params.items():
        if name != "loss":
            words += [f"--{name.replace('_', '-')}", _shown(value)]
    known = {parameter.name for parameter in train.command.params} - _NOT_RETOLD
    for parameter in ctx.command.params:
        said = ctx.get_parameter_source(parameter.name or "") == ParameterSource.COMMANDLINE
        other_loss = parameter.name in options.loss_parameter_names() and not hasattr(loss, parameter.name)
        if said and parameter.name in known and not other_loss:
            words += _words(parameter, ctx.params[parameter.name])
    return shlex.join(words)


def _shown(value: Any) -> str:
    """Numbers with as few digits as tell them from all others."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _words(parameter: click.Parameter, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [parameter.opts[0] if value else parameter.secondary_opts[0]]
    if parameter.multiple:
        return [word for each in value for word in (parameter.opts[0], str(each))]
    shown = "-".join(map(str, value)) if isinstance(value, tuple) else f"{value}"
    if isinstance(value, dict):
        shown = ",".join(f"{name}={_shown(number)}" for name, number in value.items())
    return [parameter.opts[0], shown]
